import { describe, expect } from 'vitest';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { withDatabase } from '../support/fixture.ts';
import { hour, minute, second, startWorld, type World } from './world.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);
const UP: ProbeQueryResult = { state: 'up', error: null, checks: [], latency: 1 };
const DOWN: ProbeQueryResult = { state: 'down', error: 'HTTP 502', checks: null, latency: null };

/** Lets the returned function answer the next probe of the node only. Later probes get `later`. */
function holdNextProbe(it: World, later: ProbeQueryResult) {
  let answer = (_: ProbeQueryResult) => {};
  let hasStarted = false;
  it.respond = () => {
    if (hasStarted) return Promise.resolve(later);
    hasStarted = true;
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  return { isHolding: () => hasStarted, answer: (result: ProbeQueryResult) => answer(result) };
}

/** Lets macrotasks run, so that responses are processed. */
const runMacrotasks = () => new Promise((resolve) => setImmediate(resolve));

describe('a probe in flight while the process was paused', () => {
  it.each([
    ['up, of a node that went down meanwhile', 10 * minute, UP, DOWN, 'down'],
    ['up, of a node that went down within seconds', 10 * second, UP, DOWN, 'down'],
    ['down, of a node that recovered meanwhile', 10 * minute, DOWN, UP, 'up'],
    ['up, of a node that is up', 10 * minute, UP, UP, 'up'],
  ])('is discarded: %s', async (_, pause, before, after, state) => {
    const it = await startWorld(sql);
    await it.pass(5 * minute);
    const heldProbe = holdNextProbe(it, after);
    // World waits for probes in flight, so ticks are made here.
    for (; !heldProbe.isHolding(); it.now += second) it.prober?.tick();
    const pausedAt = it.now - second;
    it.now += pause;
    it.prober?.tick();
    heldProbe.answer(before);
    for (let seconds = 0; seconds < 20; seconds++) {
      await runMacrotasks();
      it.now += second;
      it.prober?.tick();
    }
    await runMacrotasks();
    await it.flush();
    const states = await it.ledger();
    const paused = states.find(([intervalState]) => intervalState === 'unknown');
    expect(paused?.[1]).toBe((pausedAt - start) / second);
    expect(Number(paused?.[2])).toBeGreaterThanOrEqual((pausedAt - start + pause) / second);
    expect(states.slice(2).map(([intervalState]) => intervalState)).toEqual([state]);
  });

  it('keeps the time unknown until the first response after the pause', async () => {
    const it = await startWorld(sql);
    await it.pass(5 * minute);
    await it.flush();
    let answer = (_: ProbeQueryResult) => {};
    it.now += hour;
    it.respond = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    for (let seconds = 0; seconds < 7; seconds++) {
      it.prober?.tick();
      await runMacrotasks();
      it.now += second;
    }
    answer(UP);
    await runMacrotasks();
    it.prober?.tick();
    await runMacrotasks();
    await it.flush();
    expect(await it.ledger()).toEqual([
      ['up', 0, 300],
      ['unknown', 300, 300 + 3600 + 7],
    ]);
  });
});

describe('a probe that never ends', () => {
  it('leaves the state unknown, and the next probe is sent', async () => {
    const it = await startWorld(sql, ['a', 'b']);
    await it.pass(5 * minute);
    it.isHoldingProbes = true;
    let isHanging = true;
    it.respond = (node) => (isHanging && node === 'a' ? new Promise(() => {}) : Promise.resolve(UP));
    const advance = async (minutes: number) => {
      for (let seconds = 0; seconds < minutes * 60; seconds++) {
        it.now += second;
        it.prober?.tick();
        await runMacrotasks();
      }
    };
    await advance(10);
    isHanging = false;
    await advance(5);
    await it.flush();
    const states = await it.ledger();
    expect(states.map(([state]) => state)).toEqual(['up', 'unknown', 'up']);
    // The first probe without a response started a second after the fifth minute.
    expect(states[1]?.slice(1)).toEqual([361, 901]);
    expect((await it.ledger('b')).map(([state]) => state)).toEqual(['up']);
  });
});

/** Nodes of which one fails, one is under maintenance, and another node responds at the URL of the third. */
async function startVariedWorld(): Promise<World> {
  const it = await startWorld(sql, ['a', 'b', 'c']);
  it.windows = [{ nodes: ['b'], from: start + 20 * minute, to: start + 41 * minute }];
  const reading = (state: 'up' | 'down'): ProbeQueryResult => ({
    ...{ state, error: state === 'up' ? null : 'network', latency: 1 },
    checks: ['C', 'network'].map((name) => ({
      ...{ name, state: name === 'C' ? 'up' : state, error: null, message: null },
      ...{ timestamp: `${it.now}`, failingSince: null, failures: null },
    })),
  });
  it.respond = async (node) => {
    const result = reading(it.lives.get(node) === 'unhealthy' ? 'down' : 'up');
    if (it.lives.get(node) !== 'unresponsive') return result;
    const unknown = { state: 'unknown' as const, error: 'another node', checks: null, latency: null };
    return { ...unknown, other: { nodeId: 'NodeID-B', result } };
  };
  return it;
}

describe('the number of probes in an interval', () => {
  it('is final when the interval ends, for probes, checks and other nodes', async () => {
    const it = await startVariedWorld();
    const finalCounts = new Map<string, number>();
    let shiftedAt = 0;
    for (let round = 0; round < 6; round++) {
      it.lives.set('a', round === 3 ? 'unhealthy' : 'healthy');
      it.lives.set('c', round % 3 === 1 ? 'unresponsive' : 'healthy');
      await it.pass(7 * minute);
      await it.sleep(round % 2 ? 3 * second : 4 * minute);
      await it.pass(2 * minute);
      if (round === 4) {
        await it.kill();
        it.now += 5 * minute;
        await it.start();
      }
      await it.flush();
      const ended = await sql<{ key: string; probes: number }[]>`
        select concat_ws(' ', node, check_name, state, started_at, ended_at) as key, probes::int
        from reporting.node_health_history where observer = ${it.observer} and not is_open`;
      const counts = new Map(ended.map(({ key, probes }) => [key, probes]));
      for (const [key, probes] of finalCounts) expect(counts.get(key), key).toBe(probes);
      for (const [key, probes] of counts) finalCounts.set(key, probes);
      if (round !== 2) continue;
      it.shift += hour;
      shiftedAt = it.now;
    }
    expect(finalCounts.size).toBeGreaterThan(40);
    const rows = await sql<
      { node: string; check: string; state: string; from: number; to: number; probes: number }[]
    >`
      select node, check_name as check, state, probes::int, extract(epoch from started_at)::float8 * 1000 as from,
        case when is_open then 'infinity' else extract(epoch from ended_at)::float8 * 1000 end as to
      from reporting.node_health_history where observer = ${it.observer} order by started_at`;
    const toWall = (at: number) => at + (at > shiftedAt ? hour : 0);
    const probeTimes = (node: string) =>
      it.observations.flatMap((observation) =>
        observation.node === node || observation.result.other?.nodeId === node
          ? [toWall(observation.at)]
          : [],
      );
    for (const { node, check, state, from, to, probes } of rows) {
      // After the clock was corrected, the last state lasts until the next probe.
      const isKnown = state !== 'unknown' && from !== shiftedAt + hour;
      expect(isKnown && probes === 0, `${node} ${check} ${state} ${from}`).toBe(false);
      expect([node, check, state, new Date(from), probes]).toEqual([
        ...[node, check, state, new Date(from)],
        probeTimes(node).filter((at) => from <= at && at < to).length,
      ]);
    }
    const countProbes = (node: string) =>
      rows
        .filter((row) => row.node === node && row.check === '*')
        .reduce((sum, { probes }) => sum + probes, 0);
    for (const node of ['a', 'b', 'c']) expect(countProbes(node), node).toBe(probeTimes(node).length);
    expect(new Set(rows.map(({ node, state }) => `${node} ${state}`)).size).toBe(10);
  });
});

describe('a clock that moves back', () => {
  it.each([10 * minute, 3 * hour])('by %d ms does not stall the ledger of the next process', async (by) => {
    const it = await startWorld(sql);
    await it.pass(30 * minute);
    await it.kill();
    // The clock of the database is corrected, and the node fails.
    it.shift = -by;
    it.lives.set('a', 'unresponsive');
    await it.start();
    await it.pass(5 * minute);
    await it.flush();
    const now = (it.now + it.shift - start) / second;
    const states = await it.ledger();
    expect(states.at(-1)).toEqual(['down', now - 300, now]);
    expect(states.every(([, , to]) => Number(to) <= now)).toBe(true);
    expect(it.warnings).toContain(
      'the clock of the database was set back: the ledger after its time was removed',
    );
  });

  it('during a recording is followed within a minute, and no interval ends after its time', async () => {
    const it = await startWorld(sql);
    await it.pass(30 * minute);
    it.shift = -2 * hour;
    it.lives.set('a', 'unresponsive');
    await it.pass(10 * minute);
    await it.flush();
    const now = (it.now + it.shift - start) / second;
    const states = await it.ledger();
    expect(it.restarts).toHaveLength(1);
    expect(states.at(-1)?.[0]).toBe('down');
    expect(states.every(([, , to]) => Number(to) <= now)).toBe(true);
  });
});
