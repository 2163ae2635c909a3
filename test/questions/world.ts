import postgres from 'postgres';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { planAll } from '../../src/recording/plan.ts';
import { configFor, Recorder } from '../every-operation/support.ts';
import { stillSandbox } from '../sandbox/client.ts';

const DAY = 86_400_000;
/** The first poll, and the number of further ones at six in the morning and in the evening: a month. */
const FIRST_POLL = Date.UTC(2026, 2, 1, 6);
const POLLS = 66;
const POLL_INTERVAL_MS = DAY / 2;
/** Datasets that are not recorded: not queried, and slow to record. */
const EXCLUDED_DATASETS =
  'p_blocks x_blocks x_transactions x_utxos native_transactions erc1155_transfers erc1155_balances deployed_contracts node_health proposals average_tps';
const METRICS = [
  'txCount',
  'activeAddresses',
  'gasUsed',
  'feesPaid',
  'avgGasPrice',
  'maxGasPrice',
  'cumulativeTxCount',
];

/** A sandbox that was recorded for a month, with the data of the recording that the expected results need. */
export interface World {
  readonly sandbox: Sandbox;
  readonly clock: ManualClock;
  readonly recorder: Recorder;
  /** Times of the polls, ms since 1970. */
  readonly polls: readonly number[];
}

/** The fourth and the eleventh validator leave and return within a day. */
const WATCHED_SEATS = [0, 1, 2, 3, 4, 5, 10, 11];

/** The EVM chains whose metrics are recorded. */
export const CHAINS = ['43114', '888001', 'total'];
/** The configured nodes by name: the first in order is the one of all views. */
export const NODES = ['observer-1', 'validator-1'];

/**
 * Records the sandbox for a month in which a subnet appears, another changes hands and one becomes an L1, validators
 * leave and join, L1 validators are topped up, delegations start and end, and nodes are restarted with another release.
 * In the end one node reports a wrong supply.
 * @param onPoll is called after each poll, with its time
 */
export async function recordedMonth(
  url: string,
  onPoll: (moment: number) => Promise<void> = async () => {},
): Promise<World> {
  const { sandbox, clock } = await stillSandbox({
    genesisMs: FIRST_POLL - 199 * DAY,
    blocksPerHour: 0.25,
    validators: 14,
    utxos: 12,
    ledgerCalls: 10,
  });
  clock.advance(FIRST_POLL - clock.now());
  const { network, nodes } = sandbox;
  sandbox.facts.on('validators-return', Date.UTC(2026, 2, 22) / 1000);
  sandbox.facts.on('supply-apart', Date.UTC(2026, 2, 25) / 1000, 'validator-1');
  for (const node of nodes) node.timeline.addRestart(Date.UTC(2026, 2, 15 + node.number) / 1000);
  // Of the subnet that changes hands, and of the one that becomes an L1.
  const owners = [4, 3].map((subnet) => network.accounts.of(subnet, 81));
  const config = configFor(
    sandbox,
    NODES.map((name) => ({ name, path: `/nodes/${name}` })),
    {
      watch: {
        chains: CHAINS,
        nodeIds: WATCHED_SEATS.flatMap((seat) => network.validators.nodes[seat]?.nodeId ?? []),
        subnets: network.subnets
          .filter(({ number, createdAt }) => number > 0 && createdAt * 1000 < FIRST_POLL)
          .map(({ subnetId }) => subnetId),
        addresses: [...sandbox.watch.addresses, ...owners.map(({ address }) => `P-${address}`)],
        evmAddresses: ['43114', '888001'].flatMap((chain) =>
          [1, 2].map((account) => ({ chain, address: sandbox.evm.get(chain)?.address(account) })),
        ),
      },
      datasets: {
        metric_points: { metrics: METRICS, intervals: ['day', 'week', 'month'] },
        proposed_blocks: { since: '2026-03-01' },
        // A watched validator that leaves takes all its delegations with it.
        validator_delegators: { confirmShrink: { observations: 1 } },
        ...Object.fromEntries(EXCLUDED_DATASETS.split(' ').map((name) => [name, { enabled: false }])),
      },
    },
  );
  const sql = postgres(url, { max: 4, onnotice: () => {}, types: { date: asText(1082) } });
  const recorder = new Recorder(sql, config, clock);
  const polls: number[] = [];
  for (let poll = 0; poll < POLLS; poll++) {
    if (poll > 0) clock.advance(POLL_INTERVAL_MS);
    await recorder.round((feed, states, now) => planAll(feed, feed.targets, states, now));
    polls.push(clock.now());
    await onPoll(clock.now());
  }
  clock.advance(POLL_INTERVAL_MS);
  return { sandbox, clock, recorder, polls };
}

/** In ms since 1970. */
export const MONTH_START = Date.UTC(2026, 2, 1);
const HOUR = 3_600_000;

/** The states of `validator-1` from the start of March: each up to its time, in order. */
export const LEDGER = [
  { state: 'up', until: MONTH_START + 100 * HOUR },
  { state: 'down', until: MONTH_START + 102 * HOUR },
  { state: 'up', until: MONTH_START + 300 * HOUR },
  { state: 'unknown', until: MONTH_START + 306 * HOUR },
  { state: 'up', until: Date.UTC(2026, 3, 2) },
] as const;

/** Stores {@link LEDGER} as the states of an observer. */
export async function recordLedger(sql: postgres.Sql): Promise<void> {
  const probe = { observer: 'recorder', node: 'validator-1', probe: 'health' };
  const end = new Date(LEDGER.at(-1)?.until ?? 0);
  await sql`insert into recorder.health_observers (observer, heartbeat_at) values ('recorder', ${end})`;
  await sql`insert into recorder.health_probes ${sql({ ...probe, probes: 9, probed_at: end })}`;
  let started = MONTH_START;
  for (const { state, until } of LEDGER) {
    const interval = {
      started_at: new Date(started),
      ended_at: until === end.getTime() ? null : new Date(until),
    };
    await sql`insert into recorder.node_health ${sql({ ...probe, ...interval, check_name: '*', state, reported: true })}`;
    started = until;
  }
}

/** Returns SQL days as texts: a Date would be a moment of one. */
const asText = (type: number) => ({
  to: type,
  from: [type],
  serialize: (day: string) => day,
  parse: (day: string) => day,
});
