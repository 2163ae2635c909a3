import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import type { Dataset, Target } from '../../src/datasets/contract.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { ManualClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type Explained, explained } from '../support/explained.ts';
import { most } from '../support/plan-steps.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/recording.ts';

let database: TestDatabase;
let own: Explained;
let sql: postgres.Sql;

beforeAll(async () => {
  database = await testDatabase();
  own = await explained(database.url);
  ({ sql } = own);
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

const STORED = 4_000;
const POLLED = 200;
const CONSTANT = 5;
/** As often as it takes until PostgreSQL plans the statement without looking at its parameters. */
const ROUNDS = 8;

/** A list of a dataset: its target, the name of the list in an answer, and what makes the nth item another one. */
interface List {
  readonly dataset: Dataset;
  readonly target: Target;
  readonly name: string;
  readonly nth: (n: number) => Readonly<Record<string, unknown>>;
}

const lists: readonly List[] = [
  {
    dataset: proposedBlocks,
    target: { network: 'mainnet', blockchainId: 'c-chain', nodeId: 'NodeID-1' },
    name: 'blocks',
    nth: (n) => ({ blockHash: `hash-${n}`, blockNumber: String(n) }),
  },
  {
    dataset: nativeTransactions,
    target: { chainId: '43114', address: '0x0' },
    name: 'transactions',
    nth: (n) => ({ txHash: `0x${n.toString(16).padStart(64, '0')}` }),
  },
  {
    dataset: subnets,
    target: { network: 'mainnet' },
    name: 'subnets',
    nth: (n) => ({ subnetId: `subnet-${n}` }),
  },
  {
    dataset: validators,
    target: { node: 'n', subnetId: 's' },
    name: 'validators',
    nth: (n) => ({ nodeID: `NodeID-${n}`, txID: `tx-${n}` }),
  },
];

describe('a poll of rows that are known', () => {
  it.each(lists.map((list) => [list.dataset.name, list] as const))(
    'of %s looks each of them up, though PostgreSQL knows nothing of the table yet',
    async (_, { dataset, target, name, nth }) => {
      const feed = scriptedFeed(dataset, target);
      const context = recordingContext(sql, new ManualClock(Date.UTC(2026, 0, 10)).read);
      const items = (count: number) =>
        Array.from({ length: count }, (_, n) => ({ ...dataset.example, ...nth(n) }));
      feed.script = () => onlyPage({ [name]: items(STORED) }, { whole: false });
      expect(await run(context, feed)).toMatchObject({ rowsWritten: [STORED] });
      own.steps();
      feed.script = () => onlyPage({ [name]: items(POLLED) }, { whole: false });
      for (let round = 0; round < ROUNDS; round++) {
        expect(await run(context, feed)).toMatchObject({ rowsWritten: [0], items: POLLED });
        const steps = own.steps();
        expect(most(steps)).toBeGreaterThanOrEqual(POLLED);
        expect(steps.filter(({ rows }) => rows > CONSTANT * POLLED)).toEqual([]);
      }
    },
  );
});
