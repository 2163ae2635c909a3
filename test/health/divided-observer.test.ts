import fc from 'fast-check';
import { describe, expect, vi } from 'vitest';
import { keepShares } from '../../src/health/keep-shares.ts';
import { findAbandonedShares, queryHolders } from '../../src/health/ledger.ts';
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
interface Dark {
  readonly from: number;
  to: number;
}

/** An observer whose partitions are probed by separate processes, and divided again from time to time. */
class Divided {
  readonly observer = `divided-${runs++}`;
  now = start;
  shares: readonly [string, ...string[]] = [this.observer];
  readonly #worlds = new Map<string, World>();
  readonly #dark = new Map<string, Dark[]>();
  /** The partition of each node, from one time to another. */
  readonly #belonged = new Map<string, { readonly share: string; readonly from: number; to: number }[]>();
  readonly #looks: { readonly share: string; readonly world: World }[] = [];
  readonly #troubles: readonly { readonly node: string; readonly from: number; readonly to: number }[];

  constructor(troubles: Divided['troubles']) {
    this.#troubles = troubles;
  }

  get troubles() {
    return this.#troubles;
  }

  async divide(count: number): Promise<void> {
    for (const share of this.#worlds.keys()) await this.kill(share);
    this.#worlds.clear();
    await this.pass(7 * second);
    this.shares = sharesOf(this.observer, count);
    for (const share of await findAbandonedShares(sql, this.shares)) await this.#end(share);
    for (const node of nodes) {
      const share = shareOf(node, this.shares);
      const belonged = this.#belonged.get(node) ?? [];
      const last = belonged.at(-1);
      if (last) last.to = last.share === share ? Number.POSITIVE_INFINITY : this.now;
      if (last?.share !== share) belonged.push({ share, from: this.now, to: Number.POSITIVE_INFINITY });
      this.#belonged.set(node, belonged);
    }
    for (const share of this.shares) await this.start(share);
  }

  /** Divides like `keepShares`, at this world's time. */
  async #end(share: string): Promise<void> {
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
    this.#looks.push({ share, world });
    this.#live(world);
    await world.start();
    const last = this.#dark.get(share)?.at(-1);
    if (last) last.to = Math.min(last.to, this.now);
  }

  /** At the next moment without a failure that waits for its confirmation. */
  async kill(share: string): Promise<void> {
    const world = this.#worlds.get(share);
    if (!world?.prober) return;
    const waits = () =>
      world.looks.some(({ at, look }) => look.state === 'down' && this.now - at < 6 * second);
    while (waits()) await this.pass(second);
    await world.kill();
    const dark = this.#dark.get(share) ?? [];
    this.#dark.set(share, [...dark, { from: this.now, to: Number.POSITIVE_INFINITY }]);
  }

  async pass(milliseconds: number): Promise<void> {
    for (const end = this.now + milliseconds; this.now < end; ) {
      this.now += second;
      for (const world of this.#worlds.values()) {
        await world.pass(second, () => this.#live(world));
      }
    }
  }

  #live(world: World): void {
    for (const node of nodes) {
      const ill = this.#troubles.some(
        (one) => one.node === node && one.from <= world.now && world.now < one.to,
      );
      world.lives.set(node, ill ? 'gone' : 'well');
    }
  }

  async flush(): Promise<void> {
    for (const world of this.#worlds.values()) await world.flush();
  }

  /** The expected state of each second of a node, by its probes and the unobserved times. */
  account(node: string): string[] {
    const told: string[] = [];
    for (const { share, from, to } of this.#belonged.get(node) ?? []) {
      const looks = this.#looks
        .filter((one) => one.share === share)
        .flatMap(({ world }) =>
          world.looks.filter((look) => look.node === node && look.at >= from && look.at < to),
        );
      const said = looks.map(({ look }) => String(look.state));
      looks.forEach(({ at, look }, n) => {
        if (look.state !== 'down' || said[n - 1] === 'down') return;
        const next = looks.slice(n + 1).find((one) => one.look.state !== 'down' || one.at - at >= 2 * second);
        if (next?.look.state !== 'down') said[n] = said[n - 1] ?? 'unknown';
      });
      let look = -1;
      for (let now = start + told.length * second; now < Math.min(to, this.now); now += second) {
        while ((looks[look + 1]?.at ?? Number.POSITIVE_INFINITY) <= now) look += 1;
        const dark = (this.#dark.get(share) ?? []).some((one) => one.from <= now && now < one.to);
        told.push(dark ? 'unknown' : (said[look] ?? 'unknown'));
      }
    }
    return told;
  }

  /** The state of each second of a node in the views. */
  async told(node: string): Promise<string[]> {
    const parts = await sql<{ state: string; from: number; to: number }[]>`
      select state, extract(epoch from started_at)::float8 * 1000 - ${start} as from,
        extract(epoch from ended_at)::float8 * 1000 - ${start} as to
      from reporting_internal.node_states where (observer = ${this.observer} or starts_with(observer, ${`${this.observer}/`})) and node = ${node}
      order by started_at`;
    const seconds = Array.from({ length: (this.now - start) / second }, () => 'unknown');
    const known = parts.filter(({ state }) => state !== 'unknown');
    known.forEach(({ from, to, state }, n) => {
      expect(from).toBeGreaterThanOrEqual(known[n - 1]?.to ?? 0); // never two states at one moment
      seconds.fill(state, from / second, to / second);
    });
    return seconds;
  }
}

describe('a divided observer', () => {
  it('records each second of each node as its partition observed it, for any divisions and kills', async () => {
    const trouble = fc
      .record({
        node: fc.constantFrom(...nodes),
        at: fc.integer({ min: 0, max: 3600 }),
        lasts: fc.integer({ min: 1, max: 400 }),
      })
      .map(({ node, at, lasts }) => ({ node, from: start + at * second, to: start + (at + lasts) * second }));
    const event = fc.record({
      what: fc.constantFrom('kill', 'start', 'divide'),
      which: fc.nat({ max: 9 }),
      after: fc.integer({ min: 1, max: 240 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(trouble, { maxLength: 12 }),
        fc.array(event, { minLength: 2, maxLength: 10 }),
        async (troubles, events) => {
          const divided = new Divided(troubles);
          await divided.divide(1);
          for (const { what, which, after } of events) {
            await divided.pass(after * second);
            const share = divided.shares[which % divided.shares.length] ?? '';
            if (what === 'divide') await divided.divide(1 + (which % 4));
            else await divided[what](share);
          }
          for (const share of divided.shares) await divided.start(share);
          await divided.pass(2 * minute);
          while (divided.troubles.some(({ to }) => to > divided.now - minute)) await divided.pass(minute);
          await divided.flush();
          for (const node of nodes)
            expect(spans(await divided.told(node)), node).toEqual(spans(divided.account(node)));
          expect([...(await open(divided.observer))]).toEqual(
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
  const found: { state: string; from: number; to: number }[] = [];
  seconds.forEach((state, at) => {
    const last = found.at(-1);
    if (last?.state === state) last.to = at + 1;
    else found.push({ state, from: at, to: at + 1 });
  });
  return found.map(({ state, from, to }) => `${from} to ${to} ${state}`);
}

const well: ProbeQueryResult = { state: 'up', error: null, checks: [], latency: 1 };

/**
 * A process that keeps partitions.
 * @param workers the live ones, as its recorder has them
 * @param clock of the ledger, in ms. Default: real time
 */
function keeper(
  observer: string,
  count: number,
  worker: string,
  workers: () => Promise<readonly string[]>,
  clock?: Clock,
) {
  const stop = new AbortController();
  const said: string[] = [];
  const shares = sharesOf(observer, count);
  const log = (_: object, text?: string) => said.push(text ?? '');
  const ended = keepShares(
    {
      prober: {
        sql,
        wall: clock ?? systemClock,
        steady: clock ?? steadyClock,
        log: { info: log, warn: log },
        every: 1_000,
        query: async () => well,
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
  return { end, said };
}

const holders = async (observer: string, count: number) =>
  (await queryHolders(sql, sharesOf(observer, count))).map(({ holder, free }) => (free ? null : holder));
const open = async (observer: string) =>
  sql<{ observer: string; node: string }[]>`
    select observer, node from recorder.node_health
    where (observer = ${observer} or starts_with(observer, ${`${observer}/`})) and ended_at is null and check_name = '*'
    order by node`;
/** The keepers use real time: they divide again every 2 seconds. */
const WAITS_MS = 25_000;
const becomes = <T>(ask: () => Promise<T>, wanted: T) =>
  vi.waitFor(async () => expect(await ask()).toEqual(wanted), { timeout: WAITS_MS, interval: 100 });

describe('processes that share partitions', () => {
  it('divide them, and take over those of a stopped one, which alone are unknown meanwhile', async () => {
    const names = ['host/1/x', 'host/2/y'];
    const lives = [...names];
    let now = start;
    let opens = () => {};
    const gates = [Promise.resolve(), Promise.resolve()];
    const keepers = names.map((name, n) => {
      const workers = () => Promise.resolve(gates[n]).then(() => lives);
      return keeper('pair', 2, name, workers, () => now);
    });
    const shifts = names.map((name) => `${name}/one`);
    await becomes(async () => (await holders('pair', 2)).sort(), shifts);
    await becomes(async () => (await open('pair')).length, nodes.length);
    const [first] = await holders('pair', 2);
    const leaves = shifts.indexOf(first ?? '');
    const stays = shifts[1 - leaves] ?? null;
    // The one that stays takes the free partition once the clock has moved, by less than counts as asleep.
    gates[1 - leaves] = new Promise((resolve) => {
      opens = resolve;
    });
    lives.splice(leaves, 1);
    await keepers[leaves]?.end();
    now += 1_500;
    opens();
    await becomes(() => holders('pair', 2), [stays, stays]);
    const absences = async () => [
      ...(await sql`
        select observer, started_at as from, ended_at as to, reason from reporting_internal.node_absences
        where starts_with(observer, 'pair')`),
    ];
    await becomes(absences, [
      { observer: 'pair', from: new Date(start), to: new Date(now), reason: 'the recorder was off' },
    ]);
    await keepers[1 - leaves]?.end();
    expect(await open('pair')).toEqual(
      nodes.map((node) => ({ observer: shareOf(node, sharesOf('pair', 2)), node })),
    );
  });

  it('take over those of a killed one as soon as its lease has expired', async () => {
    await sql`
      insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
      values ('mourned/2', 'host/9/gone/one', now() - interval '1 second', now() - interval '10 seconds')`;
    const mine = keeper('mourned', 2, 'host/1/x', async () => ['host/1/x', 'host/9/gone']);
    await becomes(() => holders('mourned', 2), ['host/1/x/one', 'host/1/x/one']);
    await mine.end();
  });

  it('end the ledgers that an earlier division left open', async () => {
    const three = keeper('shrinking', 3, 'host/1/x', async () => ['host/1/x']);
    await vi.waitFor(async () => expect(await open('shrinking')).toHaveLength(nodes.length), {
      timeout: WAITS_MS,
    });
    await three.end();
    expect(new Set((await open('shrinking')).map(({ observer }) => observer)).size).toBeGreaterThan(1);
    const alone = keeper('shrinking', 1, 'host/1/x', async () => ['host/1/x']);
    await becomes(
      async () => [...(await open('shrinking'))],
      nodes.map((node) => ({ observer: 'shrinking', node })),
    );
    await alone.end();
    expect(alone.said).toContain('no node belongs to this share any more');
  });
});
