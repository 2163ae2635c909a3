import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

async function migrate(world: World) {
  const startedAt = performance.now();
  const recorder = world.recorder(['migrate']);
  const ending = { ...(await recorder.ended), elapsedMs: performance.now() - startedAt };
  return { ending, output: recorder.lines.join('\n') };
}

/** All definitions in `reporting`. */
async function reporting({ sql }: World): Promise<string> {
  const rows = await sql<{ text: string }[]>`
    select relname || pg_get_viewdef(oid) as text from pg_class
      where relnamespace = 'reporting'::regnamespace and relkind = 'v'
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace = 'reporting'::regnamespace order by 1`;
  return rows.map(({ text }) => text).join('\n');
}

/** 75: objects of users are kept, dropped ones are recreated, and a kill leaves all or nothing. */
const userObjects: Fault = {
  numbers: [75],
  title:
    "a user's objects on reporting; a view dropped by hand; a kill between two objects; a removed column",
  backends: 'any',
  invariants: ['X'],
  async inject(world) {
    const { evidence, sql } = world;
    await Steady.prepare(world, {});
    world.watched.length = 0;
    const initialDefinitions = await reporting(world);
    await sql`drop view reporting.freshness cascade`;
    await sql`drop function reporting.subnets_as_of`;
    evidence.serve('dropped by hand', 2);
    evidence.exit('migrate, after objects were dropped by hand', (await migrate(world)).ending, [0], 60_000);
    evidence.claim('what was dropped is back', (await reporting(world)) === initialDefinitions);

    // A removed column: the view of an older version had one more, before the others.
    await sql.unsafe(`drop view reporting.average_tps cascade;
      create view reporting.average_tps as select 1 as removed, 'x'::text as chain_id`);
    await sql`create view public.mine as select chain_id from reporting.average_tps`;
    await sql`create materialized view public.heap as select * from public.mine`;
    await sql`create function public.tps_rows() returns setof reporting.average_tps
      language sql as 'select * from reporting.average_tps'`;
    await sql`grant select on reporting.average_tps, public.mine to public`;
    evidence.serve("user's objects in the way", 3);
    const before = await reporting(world);
    const refused = await migrate(world);
    evidence.exit("migrate, with a user's materialised view in the way", refused.ending, [2], 60_000);
    evidence.claim('public.heap is named', refused.output.includes('public.heap'));
    evidence.claim('nothing was changed', (await reporting(world)) === before);
    const [kept] = await sql`select from public.heap`;
    evidence.claim("the user's materialised view is there", kept !== undefined);

    await sql`drop materialized view public.heap`;
    const connection = await sql.reserve();
    const [holder] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await connection`begin`;
    await connection`lock table reporting.average_tps in access share mode`;
    const migration = migrate(world);
    await until('the migration to wait for a view', async () => {
      const found = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and ${holder?.pid ?? 0} = any(pg_blocking_pids(pid))`;
      return found.length > 0;
    });
    evidence.serve('killed between two objects');
    const failed = await migration;
    await connection`rollback`;
    connection.release();
    evidence.exit('migrate, whose connection was cut', failed.ending, [1, 75], 60_000);
    evidence.claim('a kill changed nothing', (await reporting(world)) === before);
    evidence.exit('migrate, again', (await migrate(world)).ending, [0], 60_000);
    evidence.claim('all is complete', (await reporting(world)) === initialDefinitions);
    const [objects] = await sql<{ view_readable: boolean; function_exists: boolean }[]>`
      select has_table_privilege('recorder_reader', 'public.mine', 'select') as view_readable,
        to_regprocedure('public.tps_rows()') is not null as function_exists`;
    evidence.claim("the user's view is there with its rights", objects?.view_readable === true);
    evidence.claim("the user's function is there", objects?.function_exists === true);
    await sql`select mine.chain_id, rows.chain_id from public.mine, public.tps_rows() as rows`;
  },
};

export const migrationFaults: readonly Fault[] = [userObjects];
