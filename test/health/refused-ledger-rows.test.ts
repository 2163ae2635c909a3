import { afterEach, describe, expect } from 'vitest';
import { withDatabase } from '../support/fixture.ts';
import { minute, second, startWorld, type World } from './world.ts';

const { it, sql } = withDatabase();
const start = Date.UTC(2026, 0, 10);
const every = 10 * second;

afterEach(async () => {
  await sql`drop function if exists public.refuse() cascade`;
});

/** Lets the database refuse rows of a table that fulfil a condition. */
async function refuse(condition: string, tables = ['node_health', 'health_probes']): Promise<void> {
  await sql.unsafe(`create or replace function public.refuse() returns trigger language plpgsql as $$
    begin raise exception 'no such row here' using errcode = '22023'; end $$;
    ${tables.map((table) => `create trigger refuse before insert or update on recorder.${table} for each row when (${condition}) execute function public.refuse();`).join('\n')}`);
}
const fix = () => sql`drop function public.refuse() cascade`;

async function selectProbe({ observer }: World, node: string) {
  const [row] = await sql<{ probed_at: Date; settled_until: Date; refused: string | null }[]>`
    select probed_at, settled_until, refused from reporting_internal.node_probes
    where observer = ${observer} and node = ${node}`;
  return {
    probed: ((row?.probed_at.getTime() ?? 0) - start) / second,
    settled: ((row?.settled_until.getTime() ?? 0) - start) / second,
    refused: row?.refused ?? null,
  };
}

/** The states of a node by its probes, second by second until now; the recorder of these tests never pauses. */
function computeExpectedStates({ observations, now }: World, node: string): string[] {
  const nodeObservations = observations.filter((observation) => observation.node === node);
  return Array.from({ length: (now - start) / second }, (_, at) => {
    const state = nodeObservations.findLast((observation) => observation.at <= start + at * second)?.result
      .state;
    return state ?? 'nothing';
  });
}

/** The same from the ledger. */
async function selectRecordedStates(world: World, node: string): Promise<string[]> {
  const seconds = Array<string>((world.now - start) / second).fill('nothing');
  for (const [state, from, to] of await world.ledger(node))
    seconds.fill(String(state), Number(from), Number(to));
  return seconds;
}

describe('a node whose rows the database refuses', () => {
  const nodes = Array.from({ length: 9 }, (_, n) => `node-${n}`);

  it('is stalled and reported; the others continue exactly; nothing is lost once it is fixed', async () => {
    const it = await startWorld(sql, nodes, { every });
    await it.pass(5 * minute);
    await refuse(`new.node = 'node-4'`);
    it.lives.set('node-2', 'unhealthy');
    it.lives.set('node-4', 'unresponsive');
    await it.pass(5 * minute);
    it.lives.set('node-2', 'healthy');
    await it.pass(5 * minute);
    for (const node of nodes.filter((one) => one !== 'node-4'))
      expect(await selectRecordedStates(it, node)).toEqual(computeExpectedStates(it, node));
    expect(await it.ledger('node-4')).toEqual([['up', 0, 300]]);
    const stalled = await selectProbe(it, 'node-4');
    expect(stalled).toMatchObject({ settled: 300, refused: '22023: no such row here' });
    expect(stalled.probed).toBeLessThanOrEqual(300);
    expect((await selectProbe(it, 'node-5')).probed).toBeGreaterThan(880);
    const [observer] = await sql`
      select settled_until, refused from reporting_internal.node_observers where observer = ${it.observer}`;
    expect(observer?.settled_until).toEqual(new Date(it.now));
    expect(observer?.refused).toMatchObject([{ node: 'node-4', probe: 'health' }]);
    const stallWarnings = it.warnings.filter((warning) => warning.includes('its ledger is stalled'));
    expect(stallWarnings.length).toBeGreaterThan(0);
    expect(stallWarnings.length).toBeLessThanOrEqual(10);

    await fix();
    it.lives.set('node-4', 'healthy');
    await it.pass(5 * minute);
    await it.flush();
    expect(await selectRecordedStates(it, 'node-4')).toEqual(computeExpectedStates(it, 'node-4'));
    expect(await selectProbe(it, 'node-4')).toMatchObject({ refused: null, settled: 1200 });
    const [sum] = await sql`
      select sum(probes)::int as probes from reporting_internal.node_states
      where observer = ${it.observer} and node = 'node-4'`;
    expect(sum?.probes).toBe(it.observations.filter(({ node }) => node === 'node-4').length);
  });

  it('is unknown from then on for a later process', async () => {
    const it = await startWorld(sql, ['a', 'b'], { every });
    await it.pass(5 * minute);
    await refuse(`new.node = 'a'`);
    await it.pass(5 * minute);
    await it.kill();
    await fix();
    await it.start();
    await it.pass(5 * minute);
    await it.flush();
    expect(await it.ledger('a')).toEqual([
      ['up', 0, 300],
      ['unknown', 300, 600],
      ['up', 600, 900],
    ]);
    expect(await it.ledger('b')).toEqual([['up', expect.any(Number), 900]]);
  });

  it("has its states even if the database refuses the node's messages", async () => {
    const it = await startWorld(sql, nodes, { every });
    await refuse(`new.error like '%no peers%'`, ['node_health']);
    await it.pass(5 * minute);
    it.lives.set('node-3', 'unhealthy');
    await it.pass(5 * minute);
    await it.flush();
    for (const node of nodes)
      expect((await selectRecordedStates(it, node)).slice(10)).toEqual(
        computeExpectedStates(it, node).slice(10),
      );
    const [check] = await sql`
      select state, error from reporting.node_health
      where observer = ${it.observer} and node = 'node-3' and check_name = 'network'`;
    expect(check).toEqual({ state: 'down', error: 'the response of the node could not be stored' });
    expect(await selectProbe(it, 'node-3')).toMatchObject({ refused: null });
  });

  it('may be all of them: each is reported, and all continue', async () => {
    const it = await startWorld(sql, nodes, { every });
    await it.pass(minute);
    await refuse('true');
    it.lives.set('node-1', 'unresponsive');
    await it.pass(5 * minute);
    await it.flush();
    const [observer] = await sql<{ refused: unknown[]; settled_until: Date }[]>`
      select refused, settled_until from reporting_internal.node_observers where observer = ${it.observer}`;
    expect(observer?.refused).toHaveLength(nodes.length);
    expect(observer?.settled_until).toEqual(new Date(it.now));
    await fix();
    await it.pass(5 * minute);
    await it.flush();
    for (const node of nodes)
      expect(await selectRecordedStates(it, node)).toEqual(computeExpectedStates(it, node));
  });
});
