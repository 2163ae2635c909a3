import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { catalogNames } from '../../src/configured-feeds.ts';
import { datasetNamed } from '../../src/datasets/catalog.ts';
import { planAll, planDue } from '../../src/recording/plan.ts';
import { type Forecast, forecast } from '../../src/reports/forecast.ts';
import { stillSandbox } from '../sandbox/client.ts';
import { withDatabase } from '../support/fixture.ts';
import { configFor, Recorder } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/**
 * Two rounds before the hour in which the 30 days of sweeps begin anew. The sandbox's rounds of blocks end with an hour,
 * so that each hour brings as many blocks as the one before: how many it brings, nobody could forecast.
 */
const BEGIN = Date.UTC(2026, 2, 7, 22) - 1000;

/** The sandbox's services by the recorder's upstreams. */
const SERVICES = { chainData: 'data', metrics: 'metrics', nodes: 'node' } as const;
type Upstream = keyof typeof SERVICES;
const UPSTREAMS = ['chainData', 'metrics', 'nodes'] as const;
/**
 * What the walks over blocks call: of them an hour's blocks decide the calls, and the first poll is not like the next one. A
 * dataset of a height alone calls it, too.
 */
const OF_WALKS = /^(?:platform|avm)\.get(?:BlockByHeight|Height)$/;

let sandbox: Sandbox;
let clock: ManualClock;
const { it, sql } = withDatabase({ max: 6 });
let recorder: Recorder;

beforeAll(async () => {
  const made = await stillSandbox({
    genesisMs: BEGIN + 1000 - 220 * DAY,
    blocksPerHour: 2,
    validators: 14,
    utxos: 30,
    ledgerCalls: 100_000,
  });
  ({ sandbox, clock } = made);
  clock.advance(BEGIN - clock.now());
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
        // The busy account of the youngest chain, the quieter ones of all, and one that nobody ever used.
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
            // The first recording has several pages, a day has one.
            ...(name === 'staking_transactions' ? { pageSize: 1 } : {}),
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

interface Cost {
  readonly calls: number;
  readonly units: number;
}
type ByUpstream = Record<Upstream, Cost>;

const nothing = (): ByUpstream => ({
  chainData: { calls: 0, units: 0 },
  metrics: { calls: 0, units: 0 },
  nodes: { calls: 0, units: 0 },
});

/** What the sandbox counted ever, by upstream; the walks over blocks only where they are asked for. */
function counted(walks: boolean): ByUpstream {
  const sums = nothing();
  for (const upstream of UPSTREAMS)
    for (const { operation, units } of sandbox.ledger.calls({ service: SERVICES[upstream] })) {
      if (!walks && OF_WALKS.test(operation)) continue;
      sums[upstream] = { calls: sums[upstream].calls + 1, units: sums[upstream].units + units };
    }
  return sums;
}

/** What is forecast for the next hour, by upstream. */
function forecastSums(schedules: readonly Forecast[], walks: boolean): ByUpstream {
  const sums = nothing();
  for (const { datasets, upstream, hour } of schedules) {
    const operations = datasets.flatMap((dataset) => datasetNamed(dataset)?.operations ?? []);
    if (!walks && operations.some((operation) => OF_WALKS.test(operation))) continue;
    const name = UPSTREAMS.find((one) => one === upstream);
    if (!name) throw new Error(`no upstream ${upstream}`);
    sums[name] = { calls: sums[name].calls + hour.calls, units: sums[name].units + hour.units };
  }
  return sums;
}

/** Moves the clock by an hour, makes the round that is due then, and says what the sandbox counted of it. */
async function hourly(walks: boolean): Promise<{ cost: ByUpstream; sweeps: number }> {
  const before = counted(walks);
  clock.advance(HOUR);
  const planned: string[] = [];
  const runs = await recorder.round((feed, states, now) => {
    const jobs = planDue(feed, states, now);
    planned.push(...jobs.map(({ reason }) => reason));
    return jobs;
  });
  expect(runs.filter(({ status }) => status !== 'done')).toEqual([]);
  // After a poll a hole would be healed: there is none.
  await recorder.round((feed, states, now) => {
    planned.push(...planDue(feed, states, now).map(({ reason }) => reason));
    return [];
  });
  expect(new Set(planned)).toEqual(new Set(planned.includes('sweep') ? ['poll', 'sweep'] : ['poll']));
  const after = counted(walks);
  const cost = nothing();
  for (const upstream of UPSTREAMS)
    cost[upstream] = {
      calls: after[upstream].calls - before[upstream].calls,
      units: after[upstream].units - before[upstream].units,
    };
  return { cost, sweeps: planned.filter((reason) => reason === 'sweep').length };
}

describe('an hourly round of a modest watch list', () => {
  it('costs what was forecast as soon as everything is recorded', async () => {
    await recorder.round((feed, states, now) => planAll(feed, feed.targets, states, now));
    const schedules = await forecast(sql, recorder.watched, clock.now());
    const { cost, sweeps } = await hourly(false);
    expect(cost).toEqual(forecastSums(schedules, false));
    expect(sweeps).toBe(0);
  });

  it.each([
    ['without a sweep', 0],
    // What lies before the newest page: of every interval the first window of it has its turn, and of blocks a day of each node and chain.
    ['with a sweep of every metric and interval', 4 * (17 + 3 * 4) + 3 * 10],
    ['with sweeps of hours and of blocks, of which there are more windows', 4 * 4 + 3 * 10],
  ])('costs what was forecast, walks over blocks as well, %s', async (_, expected) => {
    const schedules = await forecast(sql, recorder.watched, clock.now());
    const { cost, sweeps } = await hourly(true);
    expect(cost).toEqual(forecastSums(schedules, true));
    expect(sweeps).toBe(expected);
  });

  it('is forecast for a day as its hours are', async () => {
    const schedules = await forecast(sql, recorder.watched, clock.now());
    const points = schedules.find(({ datasets }) => datasets.includes('metric_points'));
    // Everything is asked every hour here, but for what never changes; 23 of the 25 windows of the hours are to come.
    expect(points?.day.calls).toBe(24 * (points?.round.calls ?? 0) + (points?.sweepsOfDay ?? 0));
    expect(points?.sweepsOfDay).toBe(4 * 4 * 23);
    const once = schedules.filter(({ datasets }) => datasets.includes('evm_transactions'));
    expect(once.map(({ round, hour, day }) => [round.calls, hour.calls, day.calls])).toEqual([[0, 0, 0]]);
    // A node that does not validate is asked about its uptime once a day.
    const uptime = schedules.find(({ datasets }) => datasets.includes('node_uptime_view'));
    expect([uptime?.round.calls, uptime?.hour.calls, uptime?.day.calls]).toEqual([8, 8, 8 * 24 + 2]);
  });
});
