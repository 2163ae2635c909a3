import { expect } from 'vitest';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { withDatabase } from '../support/fixture.ts';
import { hour, minute, second, World } from './world.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 3, 1);
const IDS = ['NodeID-A', 'NodeID-B', 'NodeID-C'];
const NAMES = ['a', 'b'];

/** A number from 0 to 1 that is the same in every run. */
let seed = 42;
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}

const reading = (state: ProbeQueryResult['state']): ProbeQueryResult => ({
  state,
  error: state === 'up' ? null : `${state} by itself`,
  checks: [],
  latency: state === 'up' ? 12 : null,
});
const ANOTHER: ProbeQueryResult = { state: 'unknown', error: 'another node', checks: null, latency: null };

/** Reads the ledger of a node as seconds since the start; open intervals end with the heartbeat. */
async function ledgerOf(observer: string, node: string) {
  const rows = await sql<{ state: string; from: number; to: number }[]>`
    select h.state, extract(epoch from h.started_at)::float8 - ${start / second} as from,
      extract(epoch from coalesce(h.ended_at, o.heartbeat_at))::float8 - ${start / second} as to
    from recorder.node_health h join recorder.health_observers o using (observer)
    where h.observer = ${observer} and h.node = ${node} and h.check_name = '*' order by h.started_at`;
  return rows.map(({ state, from, to }) => [state, from, to]);
}

it('records the probes of another node under its own id, until another one responds at the URL', async () => {
  const world = new World(sql, 'moved', [{ node: 'a', probe: 'health' }], start);
  let answers: ProbeQueryResult = reading('up');
  world.looker = async () => answers;
  await world.start();
  const now = () => (world.now - start) / second;
  const turn = async (look: ProbeQueryResult) => {
    answers = look;
    const looks = world.looks.length;
    while (world.looks.length === looks) await world.pass(second);
    const at = now();
    await world.pass(10 * minute);
    return at;
  };
  const moved = await turn({ ...ANOTHER, other: { nodeId: 'NodeID-B', result: reading('up') } });
  const failed = await turn({ ...ANOTHER, other: { nodeId: 'NodeID-B', result: reading('down') } });
  await world.kill();
  const off = now();
  world.now += hour;
  await world.start();
  await world.pass(10 * minute);
  const back = await turn(reading('up'));
  await world.flush();
  expect(await ledgerOf('moved', 'a')).toEqual([
    ['up', 0, moved],
    ['unknown', moved, back],
    ['up', back, now()],
  ]);
  // A process that starts ends nodes that it does not find, and the first failure is confirmed again.
  const again = off + 3600;
  expect(await ledgerOf('moved', 'NodeID-B')).toEqual([
    ['up', moved, failed],
    ['down', failed, off],
    ['down', again, back],
  ]);
  const [counted] = await sql`
    select probes::int = (select max(probes_before + probes)::int from recorder.node_health
      where (observer, node, check_name) = ('moved', 'NodeID-B', '*')) as agrees
    from recorder.health_probes where (observer, node) = ('moved', 'NodeID-B')`;
  expect(counted).toEqual({ agrees: true });
});

it('never mixes nodes, whichever responds at which URL and however the recorder is interrupted', async () => {
  const world = new World(
    sql,
    'mixed',
    NAMES.map((node) => ({ node, probe: 'health' })),
    start,
  );
  // The node that responds at each URL; the name is that of the first one.
  const answering = new Map(NAMES.map((name, at) => [name, IDS[at] ?? '']));
  const states = new Map<string, ProbeQueryResult['state']>(IDS.map((id) => [id, 'up']));
  const seen: { at: number; name: string; id: string; state: string }[] = [];
  world.looker = async (name) => {
    const id = answering.get(name) ?? '';
    const look = reading(states.get(id) ?? 'up');
    seen.push({ at: (world.now - start) / second, name, id, state: look.state });
    return id === IDS[NAMES.indexOf(name)] ? look : { ...ANOTHER, other: { nodeId: id, result: look } };
  };
  await world.start();
  for (let turns = 0; turns < 60; turns++) {
    const name = NAMES[turns % 2] ?? '';
    answering.set(name, IDS[Math.floor(random() * 3)] ?? '');
    for (const id of IDS) states.set(id, random() < 0.6 ? 'up' : 'unknown');
    await world.pass(Math.ceil(random() * 400) * second);
    if (random() < 0.1) {
      await world.kill();
      await world.start();
    } else if (random() < 0.3) await world.flush();
  }
  await world.flush();
  const starts = new Set<number>();
  for (const [at, name] of NAMES.entries()) {
    const told = await ledgerOf('mixed', name);
    // Between two probes of a name its ledger has the state of the earlier one.
    const mine = seen.filter((look) => look.name === name);
    const expected = mine.map((look) => (look.id === IDS[at] ? look.state : 'unknown'));
    for (const [n, look] of mine.entries()) {
      const [state] = told.find(([, from, to]) => Number(from) <= look.at && look.at < Number(to)) ?? [];
      if (look.at < (world.now - start) / second) expect([n, state]).toEqual([n, expected[n]]);
    }
  }
  for (const id of IDS) {
    const told = await ledgerOf('mixed', id);
    const mine = seen.filter((look) => look.id === id && IDS[NAMES.indexOf(look.name)] !== id);
    expect(told.length).toBeGreaterThan(0);
    for (const [state, from] of told) {
      starts.add(Number(from));
      expect(mine).toContainEqual(expect.objectContaining({ at: from, state }));
    }
    for (const look of mine)
      expect(
        told.some(
          ([state, from, to]) => state === look.state && Number(from) <= look.at && look.at <= Number(to),
        ),
      ).toBe(true);
  }
  expect(starts.size).toBeGreaterThan(20);
});

it('bounds the check names of a node that appears at the URL repeatedly, over all appearances', async () => {
  const world = new World(sql, 'growing', [{ node: 'a', probe: 'health' }], start, 5 * second);
  let looks = 0;
  world.looker = async () => {
    looks += 1;
    if (looks % 2) return reading('up');
    const checks = Array.from({ length: 300 }, (_, at) => ({
      ...{ name: `look ${looks} check ${at}`, state: 'up' as const, error: null, message: null },
      ...{ timestamp: null, failingSince: null, failures: null },
    }));
    return { ...ANOTHER, other: { nodeId: 'NodeID-B', result: { ...reading('up'), checks } } };
  };
  await world.start();
  await world.pass(2 * minute);
  await world.flush();
  const [counted] = await sql`
    select count(distinct check_name)::int as names, bool_or(check_name = '(more)') as has_more
    from recorder.node_health where observer = 'growing' and node = 'NodeID-B'`;
  expect(counted).toEqual({ names: 1_000 + 1, has_more: true });
});

it('records at most 100 probes of other nodes, and none of configured nodes twice', async () => {
  const world = new World(
    sql,
    'flooded',
    ['a', 'NodeID-B'].map((node) => ({ node, probe: 'health' })),
    start,
    5 * second,
  );
  let looks = 0;
  world.looker = async (node) =>
    node === 'a'
      ? {
          ...ANOTHER,
          other: { nodeId: looks++ % 2 ? `NodeID-${looks}` : 'NodeID-B', result: reading('unknown') },
        }
      : reading('up');
  await world.start();
  await world.pass(20 * minute);
  await world.flush();
  const [counted] = await sql`
    select count(distinct node)::int as nodes from recorder.node_health where observer = 'flooded'`;
  expect(counted).toEqual({ nodes: 102 });
  expect(await ledgerOf('flooded', 'NodeID-B')).toEqual([['up', 0, 20 * 60]]);
});
