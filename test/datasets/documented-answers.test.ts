import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect } from 'vitest';
import { feeds } from '../../src/datasets/catalog.ts';
import type { Scope, Source, Target, UpstreamClient } from '../../src/datasets/contract.ts';
import { getEntries, getMember } from '../../src/datasets/sources/answer.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { parseJson } from '../../src/upstreams/json.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { recordingContext, run } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();

const folder = fileURLToPath(new URL('../../../shared/real-data/health-info/', import.meta.url));
const present = existsSync(folder);
if (!present)
  console.warn("skipped: the documented answers of the nodes' APIs (../shared/real-data) are not here");

/** A documented response. */
interface Documented {
  readonly file: string;
  readonly method: string;
  readonly result: unknown;
}

/** Returns the method of a response that is documented without its request. */
const methodByField: Readonly<Record<string, string>> = {
  networkID: 'info.getNetworkID',
  isBootstrapped: 'info.isBootstrapped',
  nodeID: 'info.getNodeID',
  version: 'info.getNodeVersion',
  validators: 'platform.getCurrentValidators',
};

function readExamples(file: string): Documented[] {
  const whole = parseJson(readFileSync(folder + file, 'utf8'));
  const examples = Array.isArray(whole) ? whole : getMember(whole, 'examples');
  return (Array.isArray(examples) ? examples : []).flatMap((example: unknown) => {
    const text = getMember(example, 'response_text');
    // One example ends in a stray character.
    const response =
      typeof text === 'string'
        ? parseJson(text.slice(0, text.lastIndexOf('}') + 1))
        : getMember(example, 'response');
    const result = getMember(response, 'result');
    const inferredMethods = getEntries(result).flatMap(([name]) => methodByField[name] ?? []);
    const method =
      getMember(getMember(example, 'request'), 'method') ??
      getMember(example, 'method') ??
      inferredMethods[0];
    return typeof method === 'string' && result !== undefined ? [{ file, method, result }] : [];
  });
}

const all = present ? readdirSync(folder).sort().flatMap(readExamples) : [];
const recordedMethods = new Set(recorded.flatMap(({ operations }) => operations));
const answers = all.filter(({ method }) => recordedMethods.has(method));

const scope: Scope = {
  network: 'mainnet',
  observer: 'recorder',
  shares: 1,
  nodes: ['validator-1'],
  tags: { 'validator-1': ['29uVeLPJB1eQJkzRemU8g8wZDw5uJRqpab5U2mX9euieVwiEbL'] },
  watch: {
    chains: [],
    nodeIds: ['NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD'],
    subnets: [],
    addresses: ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    evmAddresses: [],
    contracts: [],
    collections: [],
    transactions: [],
    assets: ['2pYGetDWyKdHxpFxh2LHeoLNCH6H5vxxCxHQtFnnFaYxLsqtHC'],
  },
  options: {},
};

/**
 * The owner of some documented outputs, as an address and in their bytes. The documented requests name another address.
 */
const OWNER = {
  address: 'avax13w5cm2awhnvrq4nenpqul0zk0k93puskh7xtzh',
  bytes: '8ba98dabaebcd83056799841cfbc567d8b10f216',
};

/**
 * A scope that watches the asset, the validators or the owner of a result. Many are documented without their requests.
 */
function scopeOf({ result }: Documented): Scope {
  const assets = textsOf([result], 'assetID');
  const nodeIds = textsOf(getMember(result, 'validators'), 'nodeID');
  const { watch } = scope;
  return {
    ...scope,
    watch: {
      ...watch,
      assets: assets.length > 0 ? assets : watch.assets,
      nodeIds: nodeIds.length > 0 ? nodeIds : watch.nodeIds,
      addresses: JSON.stringify(result).includes(OWNER.bytes) ? [OWNER.address] : watch.addresses,
    },
  };
}

/** The documented transaction of avm.getTx. */
const TRANSACTION = '2oJCbb8pfdxEHAf9A8CdN4Afj9VSR3xzyzNkf8tDv7aM1sfNFL';

/** Returns the texts of a member in the objects of a list. */
const textsOf = (list: unknown, name: string) =>
  (Array.isArray(list) ? list : [])
    .map((one: unknown) => getMember(one, name))
    .filter((value) => typeof value === 'string');

/** Targets for which a source calls the method. A block is the same by id and by height. */
function targetsFor(source: Source, answer: Documented): Target[] {
  const node = 'validator-1';
  if (!source.demand) return source.targets(scopeOf(answer));
  return [
    source.demand(
      answer.method.includes('getBlock') ? { node, blockId: 'any' } : { node, txId: TRANSACTION },
      scope,
    ),
  ];
}

/** A node with one given response, and the first documented one for all other methods; it serves no GET. */
function nodeThatAnswers({ method, result }: Documented): Partial<Omit<UpstreamClient, 'now'>> {
  const requested = method.replace('getBlockByHeight', 'getBlock');
  const resultOf = (calledMethod: string) => {
    const answer = calledMethod === requested ? { result } : all.find((one) => one.method === calledMethod);
    if (!answer) throw new UpstreamFailure('unsupported', `the node does not offer ${calledMethod}`);
    return answer.result;
  };
  return {
    probe: async (_path, call) => {
      if (call?.method === undefined) throw new UpstreamFailure('bad-request', 'HTTP 405', { status: 405 });
      return resultOf(call.method);
    },
    rpc: async (_path, calledMethod) => resultOf(calledMethod),
  };
}

describe.skipIf(!present)('documented responses', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 10));

  /** Health reports of nodes are tested in test/health/readings.test.ts. */
  const ofRuns = answers.filter(({ method }) => !method.startsWith('health.'));

  it.each(ofRuns.map((answer, at) => [`${at + 1} of ${answer.file}: ${answer.method}`, answer] as const))(
    'decodes and stores response %s',
    async (_, answer) => {
      const callers = feeds.filter(
        ({ source, datasets }) =>
          source.upstream === 'nodes' &&
          // The height of the chain leads to blocks; chain_heights stores the response itself.
          !(source.range && answer.method.endsWith('.getHeight')) &&
          datasets.some(({ operations }) => operations.includes(answer.method)),
      );
      let items = 0;
      for (const feed of callers)
        for (const target of targetsFor(feed.source, answer)) {
          clock.now += 1000;
          const context = recordingContext(sql, clock.read, nodeThatAnswers(answer));
          const result = await run(context, withDefaultSettings(feed, [target]));
          const quarantined =
            await sql`select reason from recorder.quarantine where run_id = ${result.runId}`;
          expect({ ...result, quarantined: [...quarantined] }).toMatchObject({
            error: null,
            quarantined: [],
          });
          items += result.items;
        }
      expect(items).toBeGreaterThan(0);
    },
  );

  it('exist for every recorded method of the X-chain, info, P-chain and health APIs', () => {
    const there = new Set(answers.map(({ method }) => method));
    const methods = [...recordedMethods].filter((one) => /^(?:avm|info|platform|health)\./.test(one));
    expect(methods.filter((method) => !there.has(method))).toEqual([]);
  });
});
