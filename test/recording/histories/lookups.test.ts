import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { nativeTransactions } from '../../../src/datasets/chain-data/native-transactions.ts';
import { proposedBlocks } from '../../../src/datasets/chain-data/proposed-blocks.ts';
import { subnets } from '../../../src/datasets/chain-data/subnets.ts';
import type { Dataset, Target } from '../../../src/datasets/contract.ts';
import { metricPoints } from '../../../src/datasets/metrics/metric-points.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { ManualClock } from '../../support/clock.ts';
import { type Explained, openExplained } from '../../support/explain-statements.ts';
import { withDatabase } from '../../support/fixture.ts';
import { maxRows, type Step } from '../../support/plan-steps.ts';
import {
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../../support/scripted-feed.ts';

const { it, database } = withDatabase();
let explainedDatabase: Explained;
let sql: postgres.Sql;

beforeAll(async () => {
  explainedDatabase = await openExplained(database.url);
  ({ sql } = explainedDatabase);
  // As after a migration, or if PostgreSQL analyzes the empty tables just before the recording starts: it estimates no
  // rows, and a connection keeps its plans.
  await sql`analyze`;
});
afterAll(async () => {
  await Promise.all([sql.end(), explainedDatabase.commits.end()]);
});

const COUNT = 2_000;
const CONSTANT = 5;
/** More than the number of executions after which PostgreSQL keeps a generic plan. */
const ROUNDS = 8;
const START = Date.UTC(2026, 0, 10);
const HOUR = 3_600_000;

/** A list of a dataset, as a response. */
interface ListCase {
  readonly dataset: Dataset;
  readonly target: Target;
  readonly name: string;
  /** The values that distinguish the nth item from the others. */
  readonly nth: (n: number) => Readonly<Record<string, unknown>>;
  /** The value that differs in each round; null: no value changes. */
  readonly changed: ((round: number) => Readonly<Record<string, unknown>>) | null;
}

const lists: readonly ListCase[] = [
  {
    dataset: proposedBlocks,
    target: { network: 'mainnet', blockchainId: 'c-chain', nodeId: 'NodeID-1' },
    name: 'blocks',
    nth: (n) => ({ blockHash: `hash-${n}`, blockNumber: String(n), proposerDetails: null }),
    changed: (round) => ({ txCount: round }),
  },
  {
    dataset: nativeTransactions,
    target: { chainId: '43114', address: '0x0' },
    name: 'transactions',
    nth: (n) => ({ txHash: `0x${n.toString(16).padStart(64, '0')}`, from: { address: '0x0' } }),
    changed: null,
  },
  {
    dataset: subnets,
    target: { network: 'mainnet' },
    name: 'subnets',
    nth: (n) => ({ subnetId: `subnet-${n}` }),
    changed: (round) => ({ createBlockIndex: String(round) }),
  },
  {
    dataset: validators,
    target: { node: 'n', subnetId: 's' },
    name: 'validators',
    nth: (n) => ({ nodeID: `NodeID-${n}`, txID: `tx-${n}` }),
    changed: (round) => ({ weight: String(round) }),
  },
  {
    dataset: validatorUptime,
    target: { node: 'n', subnetId: 'readings' },
    name: 'validators',
    nth: (n) => ({ nodeID: `NodeID-${n}`, txID: `tx-${n}` }),
    changed: (round) => ({ uptime: String(99 - round) }),
  },
  {
    dataset: metricPoints,
    target: { chainId: '43114', metric: 'txCount', timeInterval: 'hour' },
    name: 'results',
    nth: (n) => ({ timestamp: (START - n * HOUR) / 1000 }),
    changed: (round) => ({ value: round }),
  },
];

/** A poll in which one item joins, one leaves, and one in a hundred changes; returns the plan steps of its commits. */
async function pollList(
  { dataset, target, name, nth, changed }: ListCase,
  clock: ManualClock,
  round: number,
) {
  const feed = feeds.get(dataset.name) ?? scriptedFeed(dataset, target);
  feeds.set(dataset.name, feed);
  clock.now += 60_000;
  const items = Array.from({ length: COUNT }, (_, n) => ({
    ...dataset.example,
    ...nth(n + round),
    ...((n + round) % 100 === 0 ? changed?.(round) : {}),
  }));
  feed.script = () => onlyPage({ [name]: items });
  explainedDatabase.steps();
  const context = { ...recordingContext(sql, clock.read), commits: explainedDatabase.commits };
  const { status, items: read, quarantined } = await run(context, feed);
  expect({ status, read, quarantined }).toEqual({ status: 'done', read: COUNT, quarantined: 0 });
  const steps = explainedDatabase.steps();
  expect(maxRows(steps)).toBeGreaterThanOrEqual(COUNT);
  return steps;
}

const feeds = new Map<string, ScriptedFeed>();
const findExcessiveSteps = (steps: readonly Step[]) => steps.filter(({ rows }) => rows > CONSTANT * COUNT);

describe('a poll of a recorded list', () => {
  it.each(lists.map((list) => [list.dataset.name, list] as const))(
    'of %s compares each item with its own row, though PostgreSQL estimates an empty table',
    async (_, list) => {
      const clock = new ManualClock(START);
      for (let round = 0; round < ROUNDS; round++)
        expect(findExcessiveSteps(await pollList(list, clock, round))).toEqual([]);
    },
  );

  it.each(
    lists
      .filter(({ dataset }) => dataset.history !== 'sample')
      .map((list) => [list.dataset.name, list] as const),
  )('of %s does so, too, after the table was emptied and analyzed', async (name, list) => {
    const clock = new ManualClock(START + 365 * 24 * HOUR);
    await pollList(list, clock, 0);
    await sql`truncate ${sql(`recorder.${name}`)}`;
    await sql`analyze`;
    for (let round = 1; round < ROUNDS; round++)
      expect(findExcessiveSteps(await pollList(list, clock, round))).toEqual([]);
  });

  it('of subnets, whose key does not name the network, reads no lists of other networks', async () => {
    const clock = new ManualClock(START + 2 * 365 * 24 * HOUR);
    const list = lists.find(({ dataset }) => dataset === subnets);
    if (!list) throw new Error('there is no list of subnets');
    await pollList(list, clock, 0);
    const { columns } = await sql`select * from recorder.subnets limit 0`;
    const names = columns.map(({ name }) => name);
    const otherNetworkValues: Readonly<Record<string, string>> = {
      network: `'other-' || n`,
      subnet_id: `n || '-' || subnet_id`,
    };
    const values = names.map((name) => otherNetworkValues[name] ?? name);
    await sql.unsafe(
      `insert into recorder.subnets (${names.join(', ')}) select ${values.join(', ')} from recorder.subnets, generate_series(1, 10) n
        where valid_to is null and network = 'mainnet'`,
    );
    for (let round = 1; round < ROUNDS; round++)
      expect(findExcessiveSteps(await pollList(list, clock, round))).toEqual([]);
  });
});
