import { expect } from 'vitest';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { withDatabase } from '../support/fixture.ts';
import { createRandom } from '../support/random.ts';
import { hour, minute, second, World } from './world.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 3, 1);
const IDS = ['NodeID-A', 'NodeID-B', 'NodeID-C'];
const NAMES = ['a', 'b'];

const random = createRandom(42);

const reading = (state: ProbeQueryResult['state']): ProbeQueryResult => ({
  state,
  error: state === 'up' ? null : `${state} by itself`,
  checks: [],
  latency: state === 'up' ? 12 : null,
});
const ANOTHER_NODE: ProbeQueryResult = {
  state: 'unknown',
  error: 'another node',
  checks: null,
  latency: null,
};

/** Reads the ledger of a node as seconds since the start; open intervals end with the heartbeat. */
async function selectLedger(observer: string, node: string) {
  const rows = await sql<{ state: string; from: number; to: number }[]>`
    select h.state, extract(epoch from h.started_at)::float8 - ${start / second} as from,
      extract(epoch from coalesce(h.ended_at, o.heartbeat_at))::float8 - ${start / second} as to
    from recorder.node_health h join recorder.health_observers o using (observer)
    where h.observer = ${observer} and h.node = ${node} and h.check_name = '*' order by h.started_at`;
  return rows.map(({ state, from, to }) => [state, from, to]);
}

it('records the probes of another node under its own id, until another one responds at the URL', async () => {
  const world = new World(sql, 'moved', [{ node: 'a', probe: 'health' }], start);
  let result: ProbeQueryResult = reading('up');
  world.respond = async () => result;
  await world.start();
  const now = () => (world.now - start) / second;
  const respondUntilProbed = async (nextResult: ProbeQueryResult) => {
    result = nextResult;
    const probeCount = world.observations.length;
    while (world.observations.length === probeCount) await world.pass(second);
    const at = now();
    await world.pass(10 * minute);
    return at;
  };
  const movedAt = await respondUntilProbed({
    ...ANOTHER_NODE,
    other: { nodeId: 'NodeID-B', result: reading('up') },
  });
  const failedAt = await respondUntilProbed({
    ...ANOTHER_NODE,
    other: { nodeId: 'NodeID-B', result: reading('down') },
  });
  await world.kill();
  const stoppedAt = now();
  world.now += hour;
  await world.start();
  await world.pass(10 * minute);
  const returnedAt = await respondUntilProbed(reading('up'));
  await world.flush();
  expect(await selectLedger('moved', 'a')).toEqual([
    ['up', 0, movedAt],
    ['unknown', movedAt, returnedAt],
    ['up', returnedAt, now()],
  ]);
  // A process that starts ends nodes that it does not find, and the first failure is confirmed again.
  const restartedAt = stoppedAt + 3600;
  expect(await selectLedger('moved', 'NodeID-B')).toEqual([
    ['up', movedAt, failedAt],
    ['down', failedAt, stoppedAt],
    ['down', restartedAt, returnedAt],
  ]);
  const [comparison] = await sql`
    select probes::int = (select max(probes_before + probes)::int from recorder.node_health
      where (observer, node, check_name) = ('moved', 'NodeID-B', '*')) as agrees
    from recorder.health_probes where (observer, node) = ('moved', 'NodeID-B')`;
  expect(comparison).toEqual({ agrees: true });
});

it('never mixes nodes, whichever responds at which URL and however the recorder is interrupted', async () => {
  const world = new World(
    sql,
    'mixed',
    NAMES.map((node) => ({ node, probe: 'health' })),
    start,
  );
  // The node that responds at each URL; the name is that of the first one.
  const respondingIds = new Map(NAMES.map((name, at) => [name, IDS[at] ?? '']));
  const states = new Map<string, ProbeQueryResult['state']>(IDS.map((id) => [id, 'up']));
  const probes: { at: number; name: string; id: string; state: string }[] = [];
  world.respond = async (name) => {
    const id = respondingIds.get(name) ?? '';
    const result = reading(states.get(id) ?? 'up');
    probes.push({ at: (world.now - start) / second, name, id, state: result.state });
    return id === IDS[NAMES.indexOf(name)] ? result : { ...ANOTHER_NODE, other: { nodeId: id, result } };
  };
  await world.start();
  for (let turns = 0; turns < 60; turns++) {
    const name = NAMES[turns % 2] ?? '';
    respondingIds.set(name, IDS[Math.floor(random() * 3)] ?? '');
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
    const ledger = await selectLedger('mixed', name);
    // Between two probes of a name its ledger has the state of the earlier one.
    const nodeProbes = probes.filter((probe) => probe.name === name);
    const expected = nodeProbes.map((probe) => (probe.id === IDS[at] ? probe.state : 'unknown'));
    for (const [n, probe] of nodeProbes.entries()) {
      const [state] = ledger.find(([, from, to]) => Number(from) <= probe.at && probe.at < Number(to)) ?? [];
      if (probe.at < (world.now - start) / second) expect([n, state]).toEqual([n, expected[n]]);
    }
  }
  for (const id of IDS) {
    const ledger = await selectLedger('mixed', id);
    const otherProbes = probes.filter((probe) => probe.id === id && IDS[NAMES.indexOf(probe.name)] !== id);
    expect(ledger.length).toBeGreaterThan(0);
    for (const [state, from] of ledger) {
      starts.add(Number(from));
      expect(otherProbes).toContainEqual(expect.objectContaining({ at: from, state }));
    }
    for (const probe of otherProbes)
      expect(
        ledger.some(
          ([state, from, to]) => state === probe.state && Number(from) <= probe.at && probe.at <= Number(to),
        ),
      ).toBe(true);
  }
  expect(starts.size).toBeGreaterThan(20);
});

it('bounds the check names of a node that appears at the URL repeatedly, over all appearances', async () => {
  const world = new World(sql, 'growing', [{ node: 'a', probe: 'health' }], start, 5 * second);
  let probeCount = 0;
  world.respond = async () => {
    probeCount += 1;
    if (probeCount % 2) return reading('up');
    const checks = Array.from({ length: 300 }, (_, at) => ({
      ...{ name: `probe ${probeCount} check ${at}`, state: 'up' as const, error: null, message: null },
      ...{ timestamp: null, failingSince: null, failures: null },
    }));
    return { ...ANOTHER_NODE, other: { nodeId: 'NodeID-B', result: { ...reading('up'), checks } } };
  };
  await world.start();
  await world.pass(2 * minute);
  await world.flush();
  const [counts] = await sql`
    select count(distinct check_name)::int as names, bool_or(check_name = '(more)') as has_more
    from recorder.node_health where observer = 'growing' and node = 'NodeID-B'`;
  expect(counts).toEqual({ names: 1_000 + 1, has_more: true });
});

it('records at most 100 probes of other nodes, and none of configured nodes twice', async () => {
  const world = new World(
    sql,
    'flooded',
    ['a', 'NodeID-B'].map((node) => ({ node, probe: 'health' })),
    start,
    5 * second,
  );
  let probeCount = 0;
  world.respond = async (node) =>
    node === 'a'
      ? {
          ...ANOTHER_NODE,
          other: {
            nodeId: probeCount++ % 2 ? `NodeID-${probeCount}` : 'NodeID-B',
            result: reading('unknown'),
          },
        }
      : reading('up');
  await world.start();
  await world.pass(20 * minute);
  await world.flush();
  const [counts] = await sql`
    select count(distinct node)::int as nodes from recorder.node_health where observer = 'flooded'`;
  expect(counts).toEqual({ nodes: 102 });
  expect(await selectLedger('flooded', 'NodeID-B')).toEqual([['up', 0, 20 * 60]]);
});
