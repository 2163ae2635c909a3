import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { planAll, planDue } from '../../src/recording/plan.ts';
import { forecast } from '../../src/reporting/reports/forecast.ts';
import { stillSandbox } from '../sandbox/client.ts';
import { withDatabase } from '../support/fixture.ts';
import { configFor, Recorder } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The sandbox's rounds of blocks end with an hour, so that each hour has the same number of blocks. */
const START = Date.UTC(2026, 2, 7, 22) - 1000;

let sandbox: Sandbox;
let clock: ManualClock;
const { it, sql } = withDatabase({ max: 6 });
let recorder: Recorder;

beforeAll(async () => {
  const made = await stillSandbox({
    genesisMs: START + 1000 - 220 * DAY,
    blocksPerHour: 2,
    validators: 14,
    utxos: 30,
    ledgerCalls: 100_000,
  });
  ({ sandbox, clock } = made);
  clock.advance(START - clock.now());
  const { assets, nodes } = sandbox.watch;
  const evm = (chain: string, number: number) => ({
    chain,
    address: sandbox.evm.get(chain)?.address(number),
  });
  const chains = ['43114', '43113', '888001', '888002'];
  const config = configFor(
    sandbox,
    Array.from({ length: 10 }, (_, number) => ({
      name: `node-${number}`,
      path: nodes[number % nodes.length]?.path ?? '',
    })),
    {
      watch: {
        chains,
        nodeIds: sandbox.network.validators.nodes.slice(0, 10).map(({ nodeId }) => nodeId),
        addresses: sandbox.network.accounts.all
          .slice(0, 5)
          .flatMap(({ address }) => [`P-${address}`, `X-${address}`]),
        // The busy account of the youngest chain, the quieter ones of all, and an unused one.
        evmAddresses: [
          ...chains.flatMap((chain) => [evm(chain, 1), evm(chain, 2)]),
          evm('888002', 0),
          { chain: '43114', address: `0x${'0'.repeat(39)}1` },
        ],
        contracts: sandbox.watch.contracts,
        collections: sandbox.watch.collections,
        transactions: sandbox.watch.transactions,
        assets,
      },
      datasets: Object.fromEntries(
        catalogNames.datasets.map((name) => [
          name,
          {
            every: '1h',
            ...(name === 'proposed_blocks' ? { since: '2026-03-04' } : {}),
            // The first recording has several pages, a poll has one.
            ...(name === 'staking_transactions' ? { pageSize: 2 } : {}),
          },
        ]),
      ),
    },
  );
  recorder = new Recorder(sql, config, clock);
});
afterAll(async () => {
  await sandbox.close();
});

/** Requests by the datasets of a feed. */
type Requests = Readonly<Record<string, number>>;
const nameOf = (datasets: readonly string[]) => datasets.join(' ');

/**
 * Result of an hourly round: requests, calls that the sandbox counted, and windows that were requested again, by feed.
 */
interface Round {
  readonly requested: Requests;
  readonly sweeps: Requests;
  readonly counted: number;
}

/** Moves the clock by an hour, and runs the due round. */
async function hourly(): Promise<Round> {
  const before = sandbox.ledger.calls({}).length;
  clock.advance(HOUR);
  const sweeps: Record<string, number> = {};
  const requested: Record<string, number> = {};
  const runs = await recorder.round((feed, states, now) => {
    const jobs = planDue(feed, states, now);
    const name = nameOf(feed.datasets.map((dataset) => dataset.name));
    sweeps[name] = jobs.filter(({ reason }) => reason === 'sweep').length;
    requested[name] = 0;
    return jobs;
  });
  expect(runs.filter(({ status }) => status !== 'done')).toEqual([]);
  const counted = sandbox.ledger.calls({}).length - before;
  for (const { datasets, requests } of runs)
    requested[nameOf(datasets)] = (requested[nameOf(datasets)] ?? 0) + requests;
  // After a poll a gap would be healed: there is none.
  const holes: unknown[] = [];
  await recorder.round((feed, states, now) => {
    holes.push(...planDue(feed, states, now));
    return [];
  });
  expect(holes).toEqual([]);
  return { requested, sweeps, counted };
}

/** Returns the forecast of the next hour. @param only the feeds for which it is exact */
async function nextHour(only: (name: string) => boolean): Promise<Requests> {
  const schedules = await forecast(sql, recorder.watched, clock.now());
  return Object.fromEntries(
    schedules
      .map(({ datasets, hour }) => [nameOf(datasets), hour.calls] as const)
      .filter(([name]) => only(name)),
  );
}

const pick = (requests: Requests, only: Requests): Requests =>
  Object.fromEntries(Object.keys(only).map((name) => [name, requests[name] ?? 0]));
const sum = (requests: Requests) => Object.values(requests).reduce((total, calls) => total + calls, 0);

describe('an hourly round of a small watch list', () => {
  const isRecorded = (name: string) => name !== 'node_health';

  it('costs the forecast as soon as everything is recorded, except for walks over blocks', async () => {
    await recorder.round((feed, states, now) => planAll(feed, feed.targets, states, now));
    const expected = await nextHour((name) => isRecorded(name) && !/^[px]_blocks/.test(name));
    expect(pick((await hourly()).requested, expected)).toEqual(expected);
  });

  it('costs the forecast, including walks over blocks and repeated requests', async () => {
    let [sweeps, swept, forecastSwept] = [0, 0, 0];
    for (let hour = 0; hour < 6; hour += 1) {
      const expected = await nextHour(isRecorded);
      const round = await hourly();
      // The number of items in a window that is requested again can only be estimated.
      const isEstimated = (name: string) => (round.sweeps[name] ?? 0) > 0;
      const exact = Object.fromEntries(Object.entries(expected).filter(([name]) => !isEstimated(name)));
      expect(pick(round.requested, exact)).toEqual(exact);
      sweeps += sum(round.sweeps);
      swept += sum(round.requested) - sum(pick(round.requested, exact));
      forecastSwept += sum(expected) - sum(exact);
      // One probe of each node in 3 ways, besides the runs.
      expect(round.counted).toBe(sum(round.requested) + 30);
    }
    expect(sweeps).toBeGreaterThan(5);
    expect(Math.abs(forecastSwept - swept) / swept, `${forecastSwept} forecast, ${swept}`).toBeLessThan(0.05);
  });

  it('has a forecast for a day that equals the sum of its hours', async () => {
    const schedules = await forecast(sql, recorder.watched, clock.now());
    const points = schedules.find(({ datasets }) => datasets.includes('metric_points'));
    // Everything is requested every hour here, except what never changes.
    expect(points?.day.calls).toBe(24 * (points?.round.calls ?? 0) + (points?.sweepsOfDay ?? 0));
    const once = schedules.filter(({ datasets }) => datasets.includes('evm_transactions'));
    expect(once.map(({ round, hour, day }) => [round.calls, hour.calls, day.calls])).toEqual([[0, 0, 0]]);
    // A transaction that was not recorded completely is requested again.
    await sql`update recorder.target_datasets set last_complete_at = null where dataset = 'evm_transactions'`;
    const incomplete = await forecast(sql, recorder.watched, clock.now());
    const again = incomplete.find(({ datasets }) => datasets.includes('evm_transactions'));
    expect(again?.day.calls).toBeGreaterThan(0);
    // The uptime of a node that does not validate is requested once a day. A run requests the node's id, too.
    const uptime = schedules.find(({ datasets }) => datasets.includes('node_reported_uptime'));
    expect([uptime?.round.calls, uptime?.hour.calls, uptime?.day.calls]).toEqual([16, 16, 16 * 24 + 2]);
  });
});
