import { describe, expect } from 'vitest';
import { readHealth } from '../../src/health/health-reading.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { DEFAULT_SHRINK_CONFIRMATION } from '../../src/recording/active-feed.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { parseJson } from '../../src/upstreams/json.ts';
import { withDatabase } from '../support/fixture.ts';
import { hour, minute, second, startWorld, World } from './world.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);
async function selectUptime({ observer }: World, from: number, to: number) {
  const [row] = await sql<Record<string, string | null>[]>`
    select up_seconds, down_seconds, unknown_seconds, maintenance_seconds, uptime, uptime_lower, uptime_upper, coverage
    from reporting.node_uptime(${new Date(start + from)}, ${new Date(start + to)})
    where observer = ${observer} and node = 'a'`;
  return Object.fromEntries(
    Object.entries(row ?? {}).map(([name, value]) => [name, value === null ? null : Number(value)]),
  );
}

describe('a node that the configuration did not contain for a while', () => {
  it('is covered while it was watched only, and the rest is a gap with that reason', async () => {
    const observer = 'away';
    const [a, b] = [
      { node: 'a', probe: 'health' },
      { node: 'b', probe: 'health' },
    ];
    const targets = [a, b];
    const world = new World(sql, observer, targets, start);
    const dataset = { ...nodeHealth, every: minute, since: null, confirmShrink: DEFAULT_SHRINK_CONFIRMATION };
    const feed = { source: nodeHealth.source, datasets: [dataset], every: minute };
    await registerTargets(sql, { ...feed, targets: targets.map((one) => ({ observer, ...one })) }, start);
    const restart = async (...configured: typeof targets) => {
      await world.kill();
      targets.splice(0, targets.length, ...configured);
      await world.start();
      await world.pass(10 * minute);
    };
    await world.start();
    await world.pass(10 * minute);
    await restart(a);
    await restart(a, b);
    await restart(a);
    const ranges = async (view: 'coverage' | 'gaps', node: string) => {
      const rows = await sql<{ from: number; to: number; reason: string }[]>`
        select extract(epoch from range_start)::float8 * 1000 - ${start} as from,
          extract(epoch from range_end)::float8 * 1000 - ${start} as to, reason
        from reporting.${sql(view)}
        where dataset = 'node_health' and target like ${`%node=${node}%`} and target like '%observer=away%' order by 1`;
      return rows.map(({ from, to, reason }) => [Math.round(from / minute), Math.round(to / minute), reason]);
    };
    expect(await ranges('coverage', 'a')).toEqual([[0, 40, 'recorded']]);
    expect(await ranges('gaps', 'a')).toEqual([]);
    expect(await ranges('coverage', 'b')).toEqual([
      [0, 10, 'recorded'],
      [20, 30, 'recorded'],
    ]);
    expect(await ranges('gaps', 'b')).toEqual([
      [10, 20, 'not observed: the configuration did not contain it'],
    ]);
  });
});

describe('a ledger that cannot be written', () => {
  it('is reported once, not every second, and so is its recovery', async () => {
    const it = await startWorld(sql);
    const stopping = new AbortController();
    const awaitAttempts = (attempts: number, announced: World['announcedWindows']) =>
      new Promise<void>((resolve) => {
        let count = 0;
        it.announcedWindows = () => {
          count += 1;
          if (count === attempts) resolve();
          return announced();
        };
      });
    const running = it.prober?.run(stopping.signal);
    await awaitAttempts(4, () => {
      throw new Error('the database is unavailable');
    });
    expect(it.warnings).toEqual([expect.stringContaining('the health ledger could not be written')]);
    await awaitAttempts(2, () => []);
    expect(it.infos).toEqual(['the health ledger is written again']);
    stopping.abort();
    await running;
    expect(it.warnings).toHaveLength(1);
  });
});

describe('a recorder', () => {
  it('records a failure from its first probe on, when the second one confirms it', async () => {
    const it = await startWorld(sql);
    await it.pass(10 * minute);
    it.lives.set('a', 'unresponsive');
    await it.pass(10 * minute);
    it.lives.set('a', 'healthy');
    await it.pass(10 * minute);
    await it.flush();
    const [up, down, upAgain] = await it.ledger();
    const first = it.observations.find(({ result }) => result.state === 'down');
    const recovery = it.observations.find(({ at, result }) => at > (first?.at ?? 0) && result.state === 'up');
    expect(up).toEqual(['up', 0, ((first?.at ?? 0) - start) / second]);
    expect(down).toEqual(['down', up?.[2], ((recovery?.at ?? 0) - start) / second]);
    expect(upAgain).toEqual(['up', down?.[2], 30 * 60]);
    const confirmation = it.observations.filter(({ at }) => at > (first?.at ?? 0))[0];
    expect((confirmation?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2 * second);
    expect((confirmation?.at ?? 0) - (first?.at ?? 0)).toBeLessThanOrEqual(5 * second);
  });

  it('that is killed between a failure and its confirmation confirms it after its restart', async () => {
    const it = await startWorld(sql);
    await it.pass(5 * minute);
    it.lives.set('a', 'unresponsive');
    while (!it.observations.some(({ result }) => result.state === 'down')) await it.pass(second);
    const first = it.observations.at(-1)?.at ?? 0;
    await it.kill();
    it.now += 20 * minute;
    await it.start();
    await it.pass(5 * minute);
    await it.flush();
    const [down] = await sql<{ started_at: Date }[]>`
      select started_at from recorder.node_health where observer = ${it.observer} and state = 'down' and check_name = '*'`;
    expect(down?.started_at.getTime()).toBe(first);
    expect((await it.ledger()).slice(1)).toEqual([
      ['unknown', (first - start) / second, (first - start) / second + 1200],
      ['down', (first - start) / second + 1200, (it.now - start) / second],
    ]);
  });

  it('that sleeps, or is stalled for more than two seconds, was absent', async () => {
    const it = await startWorld(sql);
    await it.pass(5 * minute);
    await it.sleep(10 * minute);
    await it.pass(5 * minute);
    await it.sleep(5 * second);
    await it.pass(5 * minute);
    await it.flush();
    expect((await it.ledger()).filter(([state]) => state === 'unknown')).toEqual([
      ['unknown', 300, 900],
      ['unknown', 1200, 1205],
    ]);
    expect(it.observations.filter(({ at }) => at === start + 15 * minute)).toHaveLength(1);
  });

  it('records announced maintenance as such, also while it was off', async () => {
    const it = await startWorld(sql, ['a', 'b']);
    it.windows = [{ nodes: ['a'], from: start + 10 * minute, to: start + 40 * minute }];
    await it.pass(15 * minute);
    it.lives.set('a', 'unresponsive');
    await it.pass(5 * minute);
    await it.kill();
    it.now += 30 * minute;
    await it.start();
    it.lives.set('a', 'healthy');
    await it.pass(10 * minute);
    await it.flush();
    const states = await it.ledger();
    expect(states.slice(0, 3)).toEqual([
      ['up', 0, 600],
      ['maintenance', 600, 2400],
      ['unknown', 2400, 3000],
    ]);
    expect(await it.ledger('b')).toEqual([
      ['up', expect.any(Number), 1200],
      ['unknown', 1200, 3000],
      ['up', 3000, 3600],
    ]);
    expect(await it.ledger('a', 'C')).toContainEqual(['maintenance', 600, 2400]);
  });

  it('keeps past uptimes of a node that is configured again', async () => {
    const it = await startWorld(sql, ['a', 'returning']);
    await it.pass(10 * minute);
    await it.kill();
    const without = new World(sql, it.observer, [{ node: 'a', probe: 'health' }], it.now);
    await without.start();
    await without.pass(2 * hour);
    await without.kill();
    const to = new Date(without.now - minute);
    const selectPastUptimes = () => sql`
      select up_seconds::float8, unknown_seconds::float8, until
      from reporting.node_uptime('-infinity', ${to}) where (observer, node) = (${it.observer}, 'returning')
      union all
      select up_seconds::float8, unknown_seconds::float8, until from reporting.node_quorum(${new Date(start)}, ${to}) where node = 'returning'
      union all
      select up_seconds::float8, unknown_seconds::float8, ends
      from reporting.node_uptime_by('1 hour', null, ${to}) where (observer, node) = (${it.observer}, 'returning')`;
    const before = await selectPastUptimes();
    expect(before).toMatchObject(Array(3).fill({ unknown_seconds: 0, until: new Date(start + 10 * minute) }));
    const readded = new World(sql, it.observer, it.targets, without.now);
    await readded.start();
    await readded.pass(10 * minute);
    await readded.flush();
    expect(await selectPastUptimes()).toEqual(before);
  });

  it('needs two new probes to confirm a failure of a node that was removed and configured again', async () => {
    const it = await startWorld(sql, ['a', 'b']);
    await it.pass(10 * minute);
    it.lives.set('b', 'unresponsive');
    while (it.observations.at(-1)?.result.state !== 'down') await it.pass(second);
    const first = it.observations.at(-1)?.at ?? 0;
    await it.kill();
    const without = new World(sql, it.observer, [{ node: 'a', probe: 'health' }], it.now);
    await without.start();
    await without.pass(hour);
    await without.kill();
    const readded = new World(sql, it.observer, it.targets, without.now);
    readded.lives.set('b', 'unresponsive');
    await readded.start();
    readded.lives.set('b', 'healthy');
    await readded.pass(10 * minute);
    await readded.flush();
    expect((await it.ledger('b')).map(([state]) => state)).toEqual(['up', 'up']);
    expect((await it.ledger('b'))[0]).toEqual(['up', expect.any(Number), (first - start) / second]);
  });

  it('records a maintenance from its start, although a probe of another node delays the settled time', async () => {
    const it = await startWorld(sql, ['a', 'b'], { every: 4 * second });
    it.lives.set('a', 'unresponsive');
    await it.pass(minute);
    it.lives.set('b', 'unresponsive');
    while (it.observations.at(-1)?.node !== 'b' || it.observations.at(-1)?.result.state !== 'down')
      await it.pass(second);
    // The failure of b waits for a second probe, and a was up before.
    const from = it.now + second;
    it.windows = [{ nodes: ['a'], from, to: from + hour }];
    it.lives.set('a', 'healthy');
    while (it.observations.at(-1)?.node !== 'a') await it.pass(second);
    await it.flush();
    await it.pass(minute);
    await it.flush();
    const at = (from - start) / second;
    expect((await it.ledger()).slice(-2)).toEqual([
      ['down', expect.any(Number), at],
      ['maintenance', at, (it.now - start) / second],
    ]);
  });
});

/** A node whose responses are JSON texts. */
function respondWith(it: World, answers: ReadonlyMap<string, () => string>) {
  it.respond = async (node) => {
    const body = answers.get(node)?.() ?? '{"checks":{},"healthy":true}';
    return { ...readHealth(parseJson(body)), latency: 12 };
  };
}

describe('a node with a response that cannot be stored', () => {
  it.each([
    ['a NUL in the name of a check', '"a\\u0000b":{"error":"ill"}', 'a\\u0000b', null],
    ['half a surrogate pair in it', '"\\ud83d":{"error":"ill"}', '\\ud83d', null],
    ['a number beyond numeric', '"big":{"error":"ill","message":{"n":1e200000}}', 'big', { n: '1e200000' }],
  ])('is down from the first probe on: %s', async (_, check, name, message) => {
    const it = await startWorld(sql, ['a', 'b']);
    let isUnhealthy = false;
    respondWith(
      it,
      new Map([['a', () => `{"checks":{${isUnhealthy ? check : ''}},"healthy":${!isUnhealthy}}`]]),
    );
    await it.pass(10 * minute);
    isUnhealthy = true;
    await it.pass(10 * minute);
    await it.flush();
    const first = it.observations.find(({ result }) => result.state === 'down')?.at ?? 0;
    expect(await it.ledger()).toEqual([
      ['up', 0, (first - start) / second],
      ['down', (first - start) / second, 1200],
    ]);
    const [begin] = it.observations.filter(({ node }) => node === 'b');
    expect(await it.ledger('b')).toEqual([['up', ((begin?.at ?? 0) - start) / second, 1200]]);
    const [row] = await sql`
      select state, error, message from reporting.node_health where observer = ${it.observer} and check_name = ${name}`;
    expect(row).toEqual({ state: 'down', error: 'ill', message });
    const [observer] = await sql`
      select settled_until, refused from reporting_internal.node_observers where observer = ${it.observer}`;
    expect(observer).toEqual({ settled_until: new Date(it.now), refused: null });
  });

  it('changes no interval after a restart', async () => {
    const it = await startWorld(sql, ['a']);
    const check =
      '"a\\u0000":{"error":"\\udc00 b\\u0000","message":{"b":[1,{"zz":"\\u0000","a":2}],"a":"x"}}';
    respondWith(it, new Map([['a', () => `{"checks":{${check}},"healthy":false}`]]));
    await it.pass(5 * minute);
    await it.kill();
    it.now += minute;
    await it.start();
    await it.pass(5 * minute);
    await it.flush();
    const rows =
      await sql`select check_name from recorder.node_health where observer = ${it.observer} and state = 'down' order by 1`;
    expect(rows.map(({ check_name }) => check_name)).toEqual(['*', 'a\\u0000']);
  });
});

describe('a probe that fails in the recorder itself', () => {
  const fail = () => {
    throw new RangeError('Maximum call stack size exceeded');
  };
  it.each([
    ['while it lasts', async () => fail()],
    [
      'when its report is read',
      async (): Promise<ProbeQueryResult> => ({
        ...{ state: 'up', error: null, latency: 1 },
        get checks() {
          return fail();
        },
      }),
    ],
  ])('is unknown, with the reason: %s', async (_, query) => {
    const it = await startWorld(sql, ['a', 'b']);
    await it.pass(5 * minute);
    it.respond = async (node) => {
      if (node === 'a') return query();
      return { state: 'up', error: null, checks: [], latency: 1 };
    };
    await it.pass(5 * minute);
    it.respond = null;
    await it.pass(5 * minute);
    await it.flush();
    expect((await it.ledger()).map(([state]) => state)).toEqual(['up', 'unknown', 'up']);
    expect(await selectUptime(it, 0, 15 * minute)).toMatchObject({ unknown_seconds: 300, down_seconds: 0 });
    const [row] = await sql`
      select error from recorder.node_health where observer = ${it.observer} and state = 'unknown' and check_name = '*'`;
    expect(row?.error).toBe('this recorder could not probe: Maximum call stack size exceeded');
    expect(
      it.warnings.filter((warning) => warning === 'a probe of a node failed').length,
    ).toBeLessThanOrEqual(5);
  });
});

describe('check names that change at each probe', () => {
  it('are bounded per probe, over restarts and absences', async () => {
    const it = await startWorld(sql, ['a', 'b'], { every: 10 * second });
    let probeCount = 0;
    it.respond = async (node) => {
      probeCount += 1;
      const names = node === 'a' ? 400 : 2;
      const checks = Array.from({ length: names }, (_, at) => ({
        ...{ name: `probe ${probeCount} check ${at}`, state: 'up' as const, error: null, message: null },
        ...{ timestamp: null, failingSince: null, failures: null },
      }));
      return { state: 'up', error: null, checks, latency: 1 };
    };
    for (let times = 0; times < 3; times++) {
      await it.pass(minute);
      await it.kill();
      it.now += hour;
      await it.start();
    }
    await it.flush();
    const rows = await sql<{ node: string; names: number; more: boolean }[]>`
      select node, count(distinct check_name)::int as names, bool_or(check_name = '(more)') as more
      from recorder.node_health where observer = ${it.observer} group by node order by node`;
    expect(rows[0]).toEqual({ node: 'a', names: 1_000 + 1, more: true });
    expect(rows[1]).toMatchObject({ node: 'b', more: false });
    const findings = await sql<{ subject: string }[]>`
      select subject from reporting.findings where reason like '%under more than 1000 names%' and subject like ${`${it.observer} %`}`;
    expect([...findings]).toEqual([{ subject: `${it.observer} a health` }]);
  });
});

describe('first probes', () => {
  it('of a new observer end no absence, and each node is observed from its own first probe on', async () => {
    const nodes = Array.from({ length: 90 }, (_, n) => `n${n}`);
    const it = await startWorld(sql, nodes); // several ticks send probes
    await it.pass(minute);
    await it.flush();
    expect(await sql`select from recorder.health_absences where observer = ${it.observer}`).toHaveLength(0);
    for (const node of ['n0', 'n89']) {
      const first = it.observations.find((observation) => observation.node === node)?.at ?? 0;
      expect(await it.ledger(node)).toEqual([['up', (first - start) / second, 60]]);
    }
    await it.kill();
    it.now += hour;
    await it.start();
    await it.pass(minute);
    await it.flush();
    expect(await sql`select from recorder.health_absences where observer = ${it.observer}`).toHaveLength(1);
  });

  it('that an absence interrupts leave no interval without a probe', async () => {
    const nodes = Array.from({ length: 90 }, (_, n) => `n${n}`);
    const it = await startWorld(sql, nodes);
    await it.pass(5 * minute);
    await it.kill();
    it.now += 20 * minute;
    it.lives.set('n0', 'unhealthy');
    await it.start();
    await it.pass(5 * minute);
    await it.flush();
    const empty = await sql`
      select node, check_name, state from reporting.node_health_history
      where observer = ${it.observer} and probes = 0 and state <> 'unknown'
        and (started_at < ${new Date(start + 5 * minute)} or state = 'down')`;
    expect(empty).toEqual([]);
    const [sum] = await sql`
      select sum(probes)::int as probes from reporting.node_health_history
      where observer = ${it.observer} and check_name = '*'`;
    expect(sum?.probes).toBe(it.observations.length);
  });
});

describe('two processes of one observer', () => {
  it('do not both probe: the other takes over once the heartbeat of the first stops', async () => {
    const it = await startWorld(sql);
    const first = it.prober;
    await it.pass(minute);
    await it.start();
    expect(it.prober).not.toBe(first);
    await expect(first?.flush()).rejects.toThrow('another run acquired the lease of node-health');
    await it.flush();
  });
});

describe('a database that lost its last writes', () => {
  const tables = ['health_observers', 'health_absences', 'health_probes', 'health_latency', 'node_health'];
  const backup = async ({ observer }: World) => {
    for (const table of tables)
      await sql.unsafe(
        `create table public.${table} as select * from recorder.${table} where observer = $1`,
        [observer],
      );
  };
  const restore = ({ observer }: World) =>
    sql.begin(async (transaction) => {
      for (const table of tables) {
        await transaction.unsafe(`delete from recorder.${table} where observer = $1`, [observer]);
        await transaction.unsafe(`insert into recorder.${table} select * from public.${table}`);
      }
    });

  it('is not extended: the ledger continues from the stored end, and the lost time is unknown', async () => {
    const it = await startWorld(sql);
    await it.pass(10 * minute);
    await it.flush();
    await backup(it);
    it.lives.set('a', 'unresponsive');
    await it.pass(10 * minute);
    await it.flush();
    await restore(it);
    await it.pass(minute);
    await expect(it.flush()).rejects.toThrow('another run acquired the lease of node-health');
    // The same process continues it, as `up` does.
    await it.start();
    await it.pass(9 * minute);
    await it.flush();
    const [up, unknown, down, ...more] = await it.ledger();
    expect(up).toEqual(['up', 0, 600]);
    expect(unknown).toEqual(['unknown', 600, 21 * 60]);
    expect(down).toEqual(['down', 21 * 60, 30 * 60]);
    expect(more).toEqual([]);
  });
});

describe('an incident', () => {
  it('of eleven minutes whose messages change at every probe is one row per check, with its first and latest message', async () => {
    const it = await startWorld(sql, ['moving'], { every: 5 * second });
    let probeCount = 0;
    const ID = '2q9e4r6Mu3U68nU1fYjgbR6JvwrRx36CohpAX5UQxse55x1Q';
    const failing = () => {
      probeCount += 1;
      const error = `block processing time ${probeCount}m47.${probeCount}s > 2m0s`;
      const message = {
        engine: { lastAcceptedID: `${ID}${1 + (probeCount % 9)}`, processingBlocks: probeCount },
      };
      const own = { contiguousFailures: probeCount, timeOfFirstFailure: '2026-01-09T23:50:00.5-04:00' };
      const network = {
        error: `connected to ${60 + (probeCount % 9)}.58% of stake`,
        message: { connectedPeers: probeCount },
      };
      const checks = { C: { error, message, ...own }, network };
      return JSON.stringify({ checks, healthy: false });
    };
    respondWith(it, new Map([['moving', failing]]));
    await it.pass(11 * minute);
    await it.flush();
    const rows = () => sql`
      select check_name, state, error, last_error, last_message, failing_since, failures::int from reporting.node_health_history
      where observer = ${it.observer} and state = 'down' order by check_name`;
    const errors = (n: number) => ({
      error: 'block processing time 1m47.1s > 2m0s',
      last_error: `block processing time ${n}m47.${n}s > 2m0s`,
    });
    expect(it.observations.length).toBeGreaterThan(130);
    const open = await rows();
    expect(open.map(({ check_name }) => check_name)).toEqual(['*', 'C', 'network']);
    expect(open[1]).toMatchObject({
      ...errors(probeCount),
      failing_since: new Date('2026-01-10T03:50:00.5Z'),
      failures: probeCount,
    });
    expect(open[1]?.last_message).toEqual({
      engine: { lastAcceptedID: `${ID}${1 + (probeCount % 9)}`, processingBlocks: probeCount },
    });
    await it.kill();
    it.now += second;
    await it.start();
    await it.pass(minute);
    await it.flush();
    const last = probeCount;
    it.respond = null;
    await it.pass(10 * minute);
    await it.flush();
    const failingChecks = await sql`
      select check_name from recorder.node_health where observer = ${it.observer} and state = 'down' order by 1`;
    expect(failingChecks.map(({ check_name }) => check_name)).toEqual(['*', 'C', 'network']);
    const [incident] = await sql`select * from reporting.node_incidents where node = 'moving'`;
    expect(incident).toMatchObject({
      failed_checks: ['C', 'network'],
      failing_since: new Date('2026-01-10T03:50:00.5Z'),
      checks: { C: { first_error: errors(last).error, last_error: errors(last).last_error, failures: last } },
    });
  });

  it('is one while the node flaps, shown while it lasts', async () => {
    const it = await startWorld(sql, ['flapping']);
    await it.pass(hour);
    it.lives.set('flapping', 'unhealthy');
    await it.pass(10 * minute);
    it.lives.set('flapping', 'healthy');
    await it.pass(2 * minute);
    it.lives.set('flapping', 'unresponsive');
    await it.pass(10 * minute);
    await it.flush();
    const open = await sql`select * from reporting.node_incidents where node = 'flapping'`;
    expect(open).toMatchObject([
      {
        node: 'flapping',
        noticed_by: [it.observer],
        is_open: true,
        ended_at: null,
        outages: '2',
        failed_checks: ['network'],
        first_error: 'failing: network',
        last_error: 'the call failed (ECONNREFUSED)',
      },
    ]);
    it.lives.set('flapping', 'healthy');
    await it.pass(hour);
    await it.flush();
    const [closed] = await sql`select * from reporting.node_incidents where node = 'flapping'`;
    expect([closed?.is_open, Number(closed?.duration_seconds)]).toEqual([false, 22 * 60]);
  });
});
