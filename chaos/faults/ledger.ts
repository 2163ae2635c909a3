import { ScriptedNodes } from '../servers/scripted-nodes.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const HEALTHY_NODES = ['well-1', 'well-2', 'well-3'];
/** Maximum difference between the report's time and the start of the probe, ms. */
const MAX_OFFSET_MS = 1_000;

/** A recorder that probes nodes with scripted reports. */
async function startProbing(world: World, names: readonly string[]): Promise<[ScriptedNodes, Steady]> {
  const nodes = await ScriptedNodes.open();
  world.closers.add(() => nodes.close());
  const datasets = { proposed_blocks: { enabled: false }, node_health: { every: '5s' } };
  const steady = await Steady.start(world, {
    watch: 0,
    nodes: nodes.named([...names, ...HEALTHY_NODES]),
    datasets,
  });
  await eventually('every node to be up', async () => {
    const rows = await world.sql`
      select 1 from recorder.node_health where check_name = '*' and probe = 'health' and state = 'up'`;
    return rows.length === names.length + HEALTHY_NODES.length;
  });
  return [nodes, steady];
}

/** Whether a node is down since its first unhealthy report. */
async function expectDownSinceFirstProbe(
  { sql, evidence }: World,
  nodes: ScriptedNodes,
  node: string,
): Promise<void> {
  const downStates = () => sql<{ started_at: Date }[]>`
    select started_at from recorder.node_health
    where node = ${node} and probe = 'health' and check_name = '*' and state = 'down' order by started_at`;
  await until(`${node} to be down`, async () => (await downStates()).length > 0, 90_000);
  const rows = await downStates();
  const [first] = rows;
  const offsetMs = first
    ? Math.abs(first.started_at.getTime() - (nodes.firstFailingRequests.get(node) ?? 0))
    : Number.NaN;
  evidence.figures.set(`ms between the first report of ${node} and the state in the ledger`, offsetMs);
  evidence.claim(
    `${node} is down from the first probe on, once (${offsetMs} ms off)`,
    rows.length === 1 && offsetMs <= MAX_OFFSET_MS,
  );
}

/** Whether the healthy nodes are up in every second since their first probe, and their ledgers advance. */
async function expectOthersExact({ sql, evidence }: World): Promise<void> {
  const rows = await sql<{ node: string; other: number; behind: number; probed: number }[]>`
    select p.node, extract(epoch from now() - p.settled_until)::float8 as behind, extract(epoch from now() - p.probed_at)::float8 as probed,
      (select coalesce(extract(epoch from max(s.ended_at) - min(s.started_at)
        - sum(s.ended_at - s.started_at) filter (where s.state = 'up')), -1)::float8
        from reporting_internal.node_states s where (s.observer, s.node, s.probe) = (p.observer, p.node, p.probe)
          and s.ended_at > (select min(u.started_at) from reporting_internal.node_states u
            where (u.observer, u.node, u.probe, u.state) = (s.observer, s.node, s.probe, 'up'))) as other
    from reporting_internal.node_probes p where p.probe = 'health' and p.node = any(${[...HEALTHY_NODES]})`;
  evidence.claim('all nodes that are well are in the ledger', rows.length === HEALTHY_NODES.length);
  for (const { node, other, behind, probed } of rows) {
    evidence.claim(`${node} was up in every second (${other} s were not)`, other === 0);
    evidence.claim(
      `the ledger of ${node} moves (${behind} s behind, probed ${probed} s ago)`,
      behind < 15 && probed < 15,
    );
  }
}

const unstorable: Fault = {
  numbers: [53, 56],
  title: 'NUL and half surrogates in names of checks, errors and messages, and numbers beyond PostgreSQL',
  backends: 'any',
  invariants: ['I'],
  short: true,
  async inject(world) {
    const { sql, evidence } = world;
    const names = ['name', 'error', 'message', 'number', 'star'];
    const [nodes, steady] = await startProbing(world, names);
    const check = (more: string) => `{"timestamp":"${new Date().toISOString()}",${more}}`;
    nodes.failingChecks.set('name', `"a\\u0000b":${check('"error":"ill"')}`);
    nodes.failingChecks.set('error', `"E":${check('"error":"\\ud83d\\u0000"')}`);
    nodes.failingChecks.set('message', `"M":${check('"error":"ill","message":{"\\u0000":["\\udc00"]}')}`);
    nodes.failingChecks.set('number', `"N":${check('"error":"ill","message":{"n":1e200000,"m":1e-20000}')}`);
    nodes.failingChecks.set('star', `"*":${check('"error":"ill"')}`);
    for (const name of names) await expectDownSinceFirstProbe(world, nodes, name);
    const stored = await sql<{ node: string; text: string }[]>`
      select node, concat_ws(' ', check_name, error, message) as text from reporting.node_health
      where probe = 'health' and check_name not in ('*', 'C') order by node`;
    evidence.claim(
      `the messages are stored escaped: ${JSON.stringify(stored)}`,
      JSON.stringify(stored.map(({ text }) => text)) ===
        JSON.stringify([
          'E \\ud83d\\u0000',
          'M ill {"\\\\u0000": ["\\\\udc00"]}',
          'a\\u0000b ill',
          'N ill {"m": "1e-20000", "n": "1e200000"}',
          '"*" ill',
        ]),
    );
    await expectOthersExact(world);
    evidence.serve('unstorable report', nodes.unhealthyResponses);
    await steady.stop();
  },
};

/** The database refuses every row of one node, for any reason. */
const refused: Fault = {
  numbers: [57, 58],
  title: "one node's ledger cannot be written",
  backends: 'any',
  invariants: ['F', 'I'],
  async inject(world) {
    const { sql, evidence } = world;
    const [nodes, steady] = await startProbing(world, ['poor']);
    await sql.unsafe(`
      create function public.refuse() returns trigger language plpgsql as $$
        begin raise exception 'no row of this node' using errcode = '22023'; end $$;
      ${['node_health', 'health_probes']
        .map(
          (table) => `create trigger refuse before insert or update on recorder.${table}
            for each row when (new.node = 'poor') execute function public.refuse();`,
        )
        .join('\n')}`);
    nodes.failingChecks.set('poor', '"C2":{"error":"ill"}');
    const stalled = await eventually('the ledger of the node to stall', async () => {
      const [row] = await sql<{ refused: string; probed_at: Date }[]>`
        select refused, probed_at from reporting_internal.node_probes
        where node = 'poor' and probe = 'health' and refused is not null and probed_at < now() - interval '25 s'`;
      return row;
    });
    evidence.serve('refused ledger');
    evidence.claim(
      `the reason is reported: ${stalled.refused}`,
      stalled.refused.includes('no row of this node'),
    );
    await expectOthersExact(world);
    const status = world.recorder(['status', '--json']);
    const { code } = await status.ended;
    evidence.indicators.push({ where: `status exits ${code}`, isVisible: code === 1 });
    const lines = steady.running[0]?.count('its ledger is stalled') ?? 0;
    evidence.claim(`it is logged, at a bounded rate (${lines} lines)`, lines >= 1 && lines <= 3);
    await sql`drop function public.refuse() cascade`;
    await until(
      'the ledger to continue',
      async () => {
        const rows =
          await sql`select 1 from reporting_internal.node_probes where node = 'poor' and refused is not null`;
        return rows.length === 0;
      },
      90_000,
    );
    await expectDownSinceFirstProbe(world, nodes, 'poor');
    await expectOthersExact(world);
    await steady.stop();
  },
};

export const ledgerFaults: readonly Fault[] = [unstorable, refused];
