import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { keepShares } from '../../src/health/keep-shares.ts';
import { findAbandonedObservers, queryHolders } from '../../src/health/ledger.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { shareOf, sharesOf } from '../../src/health/shares.ts';
import { type Clock, steadyClock, systemClock } from '../../src/lib/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { minute, second, World } from './world.ts';

const { it, sql } = withDatabase();

const nodes = ['a', 'b', 'c', 'd', 'e', 'f'];
const start = Date.UTC(2026, 4, 1);
const every = 15 * second;
let runs = 0;

/** When no process probed a partition, in true time. */
interface UnobservedTime {
  readonly from: number;
  to: number;
}

/** An observer whose partitions are probed by separate processes, and divided again from time to time. */
class DividedObserver {
  readonly observer = `divided-${runs++}`;
  now = start;
  shares: readonly [string, ...string[]] = [this.observer];
  readonly #worlds = new Map<string, World>();
  readonly #unobserved = new Map<string, UnobservedTime[]>();
  /** The partition of each node, from one time to another. */
  readonly #assignments = new Map<string, { readonly share: string; readonly from: number; to: number }[]>();
  readonly #worldsOfShares: { readonly share: string; readonly world: World }[] = [];
  readonly #outages: readonly { readonly node: string; readonly from: number; readonly to: number }[];

  constructor(outages: DividedObserver['outages']) {
    this.#outages = outages;
  }

  get outages() {
    return this.#outages;
  }

  async divide(count: number): Promise<void> {
    for (const share of this.#worlds.keys()) await this.kill(share);
    this.#worlds.clear();
    await this.pass(7 * second);
    this.shares = sharesOf(this.observer, count);
    for (const share of await findAbandonedObservers(sql, this.shares)) await this.#endShare(share);
    for (const node of nodes) {
      const share = shareOf(node, this.shares);
      const assignments = this.#assignments.get(node) ?? [];
      const last = assignments.at(-1);
      if (last) last.to = last.share === share ? Number.POSITIVE_INFINITY : this.now;
      if (last?.share !== share) assignments.push({ share, from: this.now, to: Number.POSITIVE_INFINITY });
      this.#assignments.set(node, assignments);
    }
    for (const share of this.shares) await this.start(share);
  }

  /** Divides like `keepShares`, at this world's time. */
  async #endShare(share: string): Promise<void> {
    const world = new World(sql, share, [], this.now, every);
    await world.start();
    await world.kill();
  }

  async start(share: string): Promise<void> {
    if (this.#worlds.get(share)?.prober) return;
    const targets = nodes
      .filter((node) => shareOf(node, this.shares) === share)
      .map((node) => ({ node, probe: 'health' }));
    const world = new World(sql, share, targets, this.now, every);
    this.#worlds.set(share, world);
    this.#worldsOfShares.push({ share, world });
    this.#updateLives(world);
    await world.start();
    const last = this.#unobserved.get(share)?.at(-1);
    if (last) last.to = Math.min(last.to, this.now);
  }

  /** At the next moment without a failure that waits for its confirmation. */
  async kill(share: string): Promise<void> {
    const world = this.#worlds.get(share);
    if (!world?.prober) return;
    const isPending = () =>
      world.observations.some(({ at, result }) => result.state === 'down' && this.now - at < 6 * second);
    while (isPending()) await this.pass(second);
    await world.kill();
    const unobserved = this.#unobserved.get(share) ?? [];
    this.#unobserved.set(share, [...unobserved, { from: this.now, to: Number.POSITIVE_INFINITY }]);
  }

  async pass(milliseconds: number): Promise<void> {
    for (const end = this.now + milliseconds; this.now < end; ) {
      this.now += second;
      for (const world of this.#worlds.values()) {
        await world.pass(second, () => this.#updateLives(world));
      }
    }
  }

  #updateLives(world: World): void {
    for (const node of nodes) {
      const isDown = this.#outages.some(
        (one) => one.node === node && one.from <= world.now && world.now < one.to,
      );
      world.lives.set(node, isDown ? 'unresponsive' : 'healthy');
    }
  }

  async flush(): Promise<void> {
    for (const world of this.#worlds.values()) await world.flush();
  }

  /** The expected state of each second of a node, by its probes and the unobserved times. */
  computeExpectedStates(node: string): string[] {
    const states: string[] = [];
    for (const { share, from, to } of this.#assignments.get(node) ?? []) {
      const probes = this.#worldsOfShares
        .filter((one) => one.share === share)
        .flatMap(({ world }) =>
          world.observations.filter((probe) => probe.node === node && probe.at >= from && probe.at < to),
        );
      const probeStates = probes.map(({ result }) => String(result.state));
      probes.forEach(({ at, result }, n) => {
        if (result.state !== 'down' || probeStates[n - 1] === 'down') return;
        const next = probes
          .slice(n + 1)
          .find((one) => one.result.state !== 'down' || one.at - at >= 2 * second);
        if (next?.result.state !== 'down') probeStates[n] = probeStates[n - 1] ?? 'unknown';
      });
      let probeIndex = -1;
      for (let now = start + states.length * second; now < Math.min(to, this.now); now += second) {
        while ((probes[probeIndex + 1]?.at ?? Number.POSITIVE_INFINITY) <= now) probeIndex += 1;
        const isUnobserved = (this.#unobserved.get(share) ?? []).some(
          (one) => one.from <= now && now < one.to,
        );
        states.push(isUnobserved ? 'unknown' : (probeStates[probeIndex] ?? 'unknown'));
      }
    }
    return states;
  }

  /** The state of each second of a node in the views. */
  async selectRecordedStates(node: string): Promise<string[]> {
    const parts = await sql<{ state: string; from: number; to: number }[]>`
      select state, extract(epoch from started_at)::float8 * 1000 - ${start} as from,
        extract(epoch from ended_at)::float8 * 1000 - ${start} as to
      from reporting_internal.node_states where (observer = ${this.observer} or starts_with(observer, ${`${this.observer}/`})) and node = ${node}
      order by started_at`;
    const seconds = Array.from({ length: (this.now - start) / second }, () => 'unknown');
    const observed = parts.filter(({ state }) => state !== 'unknown');
    observed.forEach(({ from, to, state }, n) => {
      expect(from).toBeGreaterThanOrEqual(observed[n - 1]?.to ?? 0); // never two states at one moment
      seconds.fill(state, from / second, to / second);
    });
    return seconds;
  }
}

describe('a divided observer', () => {
  it('records each second of each node as its partition observed it, for any divisions and kills', async () => {
    const outage = fc
      .record({
        node: fc.constantFrom(...nodes),
        at: fc.integer({ min: 0, max: 3600 }),
        duration: fc.integer({ min: 1, max: 400 }),
      })
      .map(({ node, at, duration }) => ({
        node,
        from: start + at * second,
        to: start + (at + duration) * second,
      }));
    const event = fc.record({
      action: fc.constantFrom('kill', 'start', 'divide'),
      index: fc.nat({ max: 9 }),
      delaySeconds: fc.integer({ min: 1, max: 240 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(outage, { maxLength: 12 }),
        fc.array(event, { minLength: 2, maxLength: 10 }),
        async (outages, events) => {
          const divided = new DividedObserver(outages);
          await divided.divide(1);
          for (const { action, index, delaySeconds } of events) {
            await divided.pass(delaySeconds * second);
            const share = divided.shares[index % divided.shares.length] ?? '';
            if (action === 'divide') await divided.divide(1 + (index % 4));
            else await divided[action](share);
          }
          for (const share of divided.shares) await divided.start(share);
          await divided.pass(2 * minute);
          while (divided.outages.some(({ to }) => to > divided.now - minute)) await divided.pass(minute);
          await divided.flush();
          for (const node of nodes)
            expect(spans(await divided.selectRecordedStates(node)), node).toEqual(
              spans(divided.computeExpectedStates(node)),
            );
          expect([...(await selectOpenIntervals(divided.observer))]).toEqual(
            nodes.map((node) => ({ observer: shareOf(node, divided.shares), node })),
          );
        },
      ),
      { numRuns: 12 },
    );
  }, 60_000);
});

/** Returns seconds as spans, which are easier to compare by eye. */
function spans(seconds: readonly string[]): string[] {
  const merged: { state: string; from: number; to: number }[] = [];
  seconds.forEach((state, at) => {
    const last = merged.at(-1);
    if (last?.state === state) last.to = at + 1;
    else merged.push({ state, from: at, to: at + 1 });
  });
  return merged.map(({ state, from, to }) => `${from} to ${to} ${state}`);
}

const healthy: ProbeQueryResult = { state: 'up', error: null, checks: [], latency: 1 };

/**
 * A process that keeps partitions.
 * @param workers the live ones, as its recorder has them
 * @param clock of the ledger, in ms. Default: real time
 */
function startKeeper(
  observer: string,
  count: number,
  worker: string,
  workers: () => Promise<readonly string[]>,
  clock?: Clock,
) {
  const stop = new AbortController();
  const logged: string[] = [];
  const shares = sharesOf(observer, count);
  const log = (_: object, text?: string) => logged.push(text ?? '');
  const ended = keepShares(
    {
      prober: {
        sql,
        wall: clock ?? systemClock,
        steady: clock ?? steadyClock,
        log: { info: log, warn: log },
        every: 1_000,
        query: async () => healthy,
        maintenance: async () => [],
      },
      shares: new Map(
        shares.map((share) => [
          share,
          nodes.filter((node) => shareOf(node, shares) === share).map((node) => ({ node, probe: 'health' })),
        ]),
      ),
      worker,
      shift: 'one',
      workers,
    },
    stop.signal,
  );
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { end, logged };
}

/** Records a ledger of an observer, and leaves its intervals open. */
async function startKeeperOnce(observer: string): Promise<void> {
  const keeper = startKeeper(observer, 1, 'host/1/x', async () => ['host/1/x']);
  await expectEventually(async () => (await selectOpenIntervals(observer)).length, nodes.length);
  await keeper.end();
}

const selectHolders = async (observer: string, count: number) =>
  (await queryHolders(sql, sharesOf(observer, count))).map(({ holder, free }) => (free ? null : holder));
const selectOpenIntervals = async (observer: string) =>
  sql<{ observer: string; node: string }[]>`
    select observer, node from recorder.node_health
    where (observer = ${observer} or starts_with(observer, ${`${observer}/`})) and ended_at is null and check_name = '*'
    order by node`;
/** The keepers use real time: they divide again every 2 seconds. */
const TAKEOVER_TIMEOUT_MS = 25_000;
const expectEventually = <T>(query: () => Promise<T>, expected: T) =>
  vi.waitFor(async () => expect(await query()).toEqual(expected), {
    timeout: TAKEOVER_TIMEOUT_MS,
    interval: 100,
  });

describe('processes that share partitions', () => {
  it('divide them, and take over those of a stopped one, which alone are unknown meanwhile', async () => {
    const names = ['host/1/x', 'host/2/y'];
    const liveNames = [...names];
    let now = start;
    let openGate = () => {};
    const gates = [Promise.resolve(), Promise.resolve()];
    const keepers = names.map((name, n) => {
      const workers = () => Promise.resolve(gates[n]).then(() => liveNames);
      return startKeeper('pair', 2, name, workers, () => now);
    });
    const shifts = names.map((name) => `${name}/one`);
    await expectEventually(async () => (await selectHolders('pair', 2)).sort(), shifts);
    await expectEventually(async () => (await selectOpenIntervals('pair')).length, nodes.length);
    const [firstHolder] = await selectHolders('pair', 2);
    const leavingIndex = shifts.indexOf(firstHolder ?? '');
    const remainingShift = shifts[1 - leavingIndex] ?? null;
    // The one that stays takes the free partition once the clock has moved, by less than counts as asleep.
    gates[1 - leavingIndex] = new Promise((resolve) => {
      openGate = resolve;
    });
    liveNames.splice(leavingIndex, 1);
    await keepers[leavingIndex]?.end();
    now += 1_500;
    openGate();
    await expectEventually(() => selectHolders('pair', 2), [remainingShift, remainingShift]);
    const absences = async () => [
      ...(await sql`
        select observer, started_at as from, ended_at as to, reason from reporting_internal.node_absences
        where starts_with(observer, 'pair')`),
    ];
    await expectEventually(absences, [
      { observer: 'pair', from: new Date(start), to: new Date(now), reason: 'the recorder was off' },
    ]);
    await keepers[1 - leavingIndex]?.end();
    expect(await selectOpenIntervals('pair')).toEqual(
      nodes.map((node) => ({ observer: shareOf(node, sharesOf('pair', 2)), node })),
    );
  });

  it('take over those of a killed one as soon as its lease has expired', async () => {
    await sql`
      insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
      values ('mourned/2', 'host/9/gone/one', now() - interval '1 second', now() - interval '10 seconds')`;
    const keeper = startKeeper('mourned', 2, 'host/1/x', async () => ['host/1/x', 'host/9/gone']);
    await expectEventually(() => selectHolders('mourned', 2), ['host/1/x/one', 'host/1/x/one']);
    await keeper.end();
  });

  it('end the ledgers that an earlier division left open', async () => {
    const divided = startKeeper('shrinking', 3, 'host/1/x', async () => ['host/1/x']);
    await vi.waitFor(async () => expect(await selectOpenIntervals('shrinking')).toHaveLength(nodes.length), {
      timeout: TAKEOVER_TIMEOUT_MS,
    });
    await divided.end();
    expect(
      new Set((await selectOpenIntervals('shrinking')).map(({ observer }) => observer)).size,
    ).toBeGreaterThan(1);
    const undivided = startKeeper('shrinking', 1, 'host/1/x', async () => ['host/1/x']);
    await expectEventually(
      async () => [...(await selectOpenIntervals('shrinking'))],
      nodes.map((node) => ({ observer: 'shrinking', node })),
    );
    await undivided.end();
    expect(undivided.logged).toContain('the observer has no probes any more: its intervals were ended');
  });

  it('end the ledger of an observer whose probes were removed from the configuration, and no other', async () => {
    for (const [observer, active] of [
      ['earlier', false],
      ['elsewhere', true],
    ] as const) {
      const [node] = nodes;
      await startKeeperOnce(observer);
      await sql`insert into recorder.targets (source, target_key, target)
        values (${nodeHealth.source.name}, ${observer}, ${sql.json({ observer, node: node ?? '', probe: 'health' })})`;
      await sql`insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, left_at)
        values (${nodeHealth.source.name}, ${observer}, 'node_health', 1000, ${active}, now(), ${active ? null : new Date()})`;
    }
    const keeper = startKeeper('current', 1, 'host/1/x', async () => ['host/1/x']);
    await expectEventually(async () => (await selectOpenIntervals('earlier')).length, 0);
    await keeper.end();
    expect(await selectOpenIntervals('elsewhere')).toHaveLength(nodes.length);
  });
});
