import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { planAll } from '../../src/recording/plan.ts';
import { withDatabase } from '../support/fixture.ts';
import { sendJson, type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';
import { configFor, INSTANT, Recorder, smallNetwork } from './support.ts';

const HOUR = 3_600_000;
const WEEK = 7 * 24;
const PRIMARY = '11111111111111111111111111111111LpoYY';
const NODE = 'validator-1';

let sandbox: Sandbox;
let clock: ManualClock;
let between: UpstreamServer;
const { it, sql } = withDatabase({ max: 4 });
let recorder: Recorder;
/** The node id of the member whose weight is no number from the second poll on; null: all responses are unchanged. */
let undecodable: string | null = null;

interface Listed {
  readonly result: { readonly validators: { nodeID: string; weight: unknown; uptime?: unknown }[] };
}

/** The responses of the sandbox's node, with one member that cannot be decoded. */
async function corruptedResponse(path: string, body: string): Promise<unknown> {
  const answer = await fetch(sandbox.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const response: Listed = JSON.parse(await answer.text());
  if (!body.includes('platform.getCurrentValidators')) return response;
  for (const member of response.result.validators) if (member.nodeID === undecodable) member.weight = 'heavy';
  return response;
}

beforeAll(async () => {
  ({ sandbox, clock } = await smallNetwork());
  between = await upstreamServer(async ({ url, body }, response) =>
    sendJson(response, await corruptedResponse(url.pathname, body)),
  );
  const config = configFor({ ...sandbox, url: between.url }, [{ name: NODE, path: `/nodes/${NODE}` }], {
    watch: {},
  });
  recorder = new Recorder(sql, config, clock);
});
afterAll(async () => {
  await between?.close();
  await sandbox?.close();
});

/** For each stake of a validator: the first poll that listed it, and the poll that did not any more. */
class Tenures {
  readonly all = new Map<string, { node_id: string; from: number; to: number | null }>();

  update(at: number): void {
    const now = new Map(
      sandbox.network.validators.current(at / 1000).map(({ txId, node }) => [txId, node.nodeId]),
    );
    for (const [txId, node_id] of now)
      if (!this.all.has(txId)) this.all.set(txId, { node_id, from: at, to: null });
    for (const [txId, tenure] of this.all) if (tenure.to === null && !now.has(txId)) tenure.to = at;
  }

  lines(): string[] {
    return [...this.all].map(([txId, { node_id, from, to }]) => `${node_id} ${txId} ${from} ${to}`).sort();
  }
}

describe('one validator that cannot be decoded for a week', () => {
  it("delays no other member's join or departure, and is reported as one", async () => {
    const feed = recorder.feedOf('validators');
    const truth = new Tenures();
    const poll = async () => {
      const jobs = (
        await recorder.planJobs(feed, (of, states, now) => planAll(of, of.targets, states, now))
      ).filter(({ target }) => target.subnetId === PRIMARY);
      const runs = await recorder.run(feed, jobs);
      truth.update(clock.now());
      return runs;
    };
    expect(await poll()).toEqual([expect.objectContaining({ status: 'done' })]);

    const since = clock.now() + HOUR;
    // Every seventh validator leaves and returns; of the others, one that stays all week cannot be decoded.
    sandbox.network.facts.on('validators-return', Math.floor(clock.now() / 1000));
    const [steady] = sandbox.network.validators
      .current(INSTANT / 1000)
      .filter(({ end, node }) => end * 1000 > INSTANT + (WEEK + 1) * HOUR && node.seat % 7 !== 3);
    undecodable = steady?.node.nodeId ?? null;
    for (let hour = 0; hour < WEEK; hour++) {
      clock.advance(HOUR);
      expect(await poll()).toEqual([expect.objectContaining({ status: 'partial', quarantined: 1 })]);
    }

    const stored = await sql<{ node_id: string; tx_id: string; first: Date; last: Date | null }[]>`
      select node_id, tx_id, min(valid_from) as first,
        case when bool_or(valid_to is null) then null else max(valid_to) end as last
      from reporting.node_validators_history where subnet_id = ${PRIMARY} group by 1, 2`;
    expect(
      stored
        .map(
          ({ node_id, tx_id, first, last }) =>
            `${node_id} ${tx_id} ${first.getTime()} ${last?.getTime() ?? null}`,
        )
        .sort(),
    ).toEqual(truth.lines());
    const moved = [...truth.all.values()].filter(({ from, to }) => from > INSTANT || to !== null);
    expect(moved.length, 'the week has joins and departures').toBeGreaterThanOrEqual(4);

    expect([
      ...(await sql`
      select incomplete_since as since, reason from reporting.freshness
      where dataset = 'validators' and target like ${`%${PRIMARY}%`}`),
    ]).toEqual([{ since: new Date(since), reason: expect.stringContaining('1 item in the quarantine') }]);
    expect([
      ...(await sql`select dataset, times::int, first_seen, last_seen from reporting.quarantine`),
    ]).toEqual([
      { dataset: 'validators', times: WEEK, first_seen: new Date(since), last_seen: new Date(clock.now()) },
    ]);
  });
});
