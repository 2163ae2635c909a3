import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { day, hour, minute, second, World } from './world.ts';

let database: TestDatabase;
let sql: postgres.Sql;
const start = Date.UTC(2026, 0, 10);
let worlds = 0;

beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { onnotice: () => {} });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

async function world(nodes = ['a'], at = start): Promise<World> {
  worlds += 1;
  const targets = nodes.map((node) => ({ node, probe: 'health' }));
  const made = new World(sql, `pausing-${worlds}`, targets, at);
  await made.start();
  return made;
}

/** The ledger of a node as a whole: state, from and to in seconds since the start, and the looks. */
async function ledger({ observer }: World, node = 'a') {
  const rows = await sql<{ state: string; from: number; to: number; probes: number }[]>`
    select state, extract(epoch from started_at)::float8 * 1000 - ${start} as from,
      extract(epoch from ended_at)::float8 * 1000 - ${start} as to, probes::int
    from reporting.node_states where observer = ${observer} and node = ${node} order by started_at`;
  return rows.map(({ state, from, to, probes }) => [state, from / second, to / second, probes]);
}

const UP: ProbeQueryResult = { state: 'up', error: null, checks: [], latency: 1 };
const DOWN: ProbeQueryResult = { state: 'down', error: 'HTTP 502', checks: null, latency: null };

/** Lets the next look at the node be answered by the returned function only. Later looks get `later`. */
function heldLook(it: World, later: ProbeQueryResult) {
  let answer = (_: ProbeQueryResult) => {};
  let held = false;
  it.looker = () => {
    if (held) return Promise.resolve(later);
    held = true;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  return { isHeld: () => held, answer: (look: ProbeQueryResult) => answer(look) };
}

/** Lets macrotasks run, so that what was answered is taken. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a probe in flight while the process was paused', () => {
  it.each([
    ['up, of a node that went down meanwhile', UP, DOWN, 'down'],
    ['down, of a node that came up meanwhile', DOWN, UP, 'up'],
    ['up, of a node that is up', UP, UP, 'up'],
  ])('does not count: %s', async (_, before, after, state) => {
    const it = await world();
    await it.pass(5 * minute);
    const look = heldLook(it, after);
    // World waits for looks under way, so ticks are made here.
    for (; !look.isHeld(); it.now += second) it.prober?.tick();
    const asleep = it.now - second;
    it.now += 10 * minute;
    it.prober?.tick();
    look.answer(before);
    for (let seconds = 0; seconds < 20; seconds++) {
      await turn();
      it.now += second;
      it.prober?.tick();
    }
    await turn();
    await it.flush();
    const states = await ledger(it);
    const paused = states.find(([said]) => said === 'unknown');
    expect(paused?.[1]).toBe((asleep - start) / second);
    expect(Number(paused?.[2])).toBeGreaterThanOrEqual((asleep - start) / second + 600);
    expect(states.slice(2).map(([said]) => said)).toEqual([state]);
  });

  it('keeps the time unknown until the first answer after the pause', async () => {
    const it = await world();
    await it.pass(5 * minute);
    await it.flush();
    let answer = (_: ProbeQueryResult) => {};
    it.now += hour;
    it.looker = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    for (let seconds = 0; seconds < 7; seconds++) {
      it.prober?.tick();
      await turn();
      it.now += second;
    }
    answer(UP);
    await turn();
    it.prober?.tick();
    await turn();
    await it.flush();
    expect((await ledger(it)).map(([state, from, to]) => [state, from, to])).toEqual([
      ['up', 0, 300],
      ['unknown', 300, 300 + 3600 + 7],
    ]);
  });
});

describe('the number of looks in an interval', () => {
  it('is final when it ends, also where absences cut it, and no part without looks is known', async () => {
    const it = await world();
    const seen = new Map<string, number>();
    for (let round = 0; round < 6; round++) {
      it.lives.set('a', round === 3 ? 'ill' : 'well');
      await it.pass(7 * minute);
      await it.sleep(round % 2 ? 3 * second : 4 * minute);
      await it.pass(2 * minute);
      if (round === 4) {
        await it.kill();
        it.now += 5 * minute;
        await it.start();
      }
      await it.flush();
      const states = await ledger(it);
      for (const [state, from, to, probes] of states.slice(0, -1)) {
        const key = `${state} ${from} ${to}`;
        expect(seen.get(key) ?? probes, key).toBe(probes);
        seen.set(key, Number(probes));
        expect(state === 'unknown' || Number(probes) > 0, key).toBe(true);
      }
      const sum = states.reduce((total, [, , , probes]) => total + Number(probes), 0);
      expect(sum).toBe(it.looks.length);
    }
    const checks = await sql<{ check_name: string; sum: number }[]>`
      select check_name, sum(probes)::int as sum from reporting.node_health_history
      where observer = ${it.observer} group by check_name`;
    expect(checks.map(({ sum: looks }) => looks)).toEqual(checks.map(() => it.looks.length));
    expect(seen.size).toBeGreaterThan(10);
  });
});

describe('a clock that goes back', () => {
  it.each([10 * minute, 3 * hour])('by %d ms does not stall the ledger of the next process', async (by) => {
    const it = await world(['a'], start + day);
    await it.pass(30 * minute);
    await it.kill();
    // The clock of the database is corrected, and the node fails.
    it.shift = -by;
    it.lives.set('a', 'gone');
    await it.start();
    await it.pass(5 * minute);
    await it.flush();
    const now = (it.now + it.shift - start) / second;
    const states = await ledger(it);
    expect(states.at(-1)?.slice(0, 3)).toEqual(['down', now - 300, now]);
    expect(states.every(([, , to]) => Number(to) <= now)).toBe(true);
    expect(it.warnings).toContain(
      'the clock of the database was set back: the ledger after its time was removed',
    );
  });

  it('while it watches: it continues within a minute, and nothing lies after its time', async () => {
    const it = await world(['a'], start + day);
    await it.pass(30 * minute);
    it.shift = -2 * hour;
    it.lives.set('a', 'gone');
    await it.pass(10 * minute);
    await it.flush();
    const now = (it.now + it.shift - start) / second;
    const states = await ledger(it);
    expect(it.restarts).toHaveLength(1);
    expect(states.at(-1)?.[0]).toBe('down');
    expect(states.every(([, , to]) => Number(to) <= now)).toBe(true);
  });
});
