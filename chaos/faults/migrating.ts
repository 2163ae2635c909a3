import { Steady } from '../steady.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

async function migrate(world: World) {
  const begun = performance.now();
  const recorder = world.recorder(['migrate']);
  const ending = { ...(await recorder.ended), took: performance.now() - begun };
  return { ending, said: recorder.lines.join('\n') };
}

/** Everything in `reporting`, as it is defined. */
async function reporting({ sql }: World): Promise<string> {
  const rows = await sql<{ text: string }[]>`
    select relname || pg_get_viewdef(oid) as text from pg_class
      where relnamespace = 'reporting'::regnamespace and relkind = 'v'
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace = 'reporting'::regnamespace order by 1`;
  return rows.map(({ text }) => text).join('\n');
}

/** 75: what is the user's stays, what was dropped comes back, and a kill leaves all or nothing. */
const theirs: Fault = {
  numbers: [75],
  title:
    "a user's objects on reporting; a view dropped by hand; a kill between two objects; a column that goes",
  backends: 'any',
  invariants: ['X'],
  async inject(world) {
    const { evidence, sql } = world;
    await Steady.prepare(world, {});
    world.watched.length = 0;
    const whole = await reporting(world);
    await sql`drop view reporting.freshness cascade`;
    await sql`drop function reporting.subnets_as_of`;
    evidence.serve('dropped by hand', 2);
    evidence.exit('migrate, after objects were dropped by hand', (await migrate(world)).ending, [0], 60_000);
    evidence.claim('what was dropped is back', (await reporting(world)) === whole);

    // A column that goes: the view of an older version had one more, between two others.
    const older = async () => {
      await sql.unsafe(`drop view reporting.average_tps cascade;
        create view reporting.average_tps as select 1 as gone, 'x'::text as chain_id`);
      await sql`update recorder.reporting_objects set definition = 'older' where name = 'average_tps'`;
    };
    await older();
    await sql`create view public.mine as select chain_id from reporting.average_tps`;
    await sql`create materialized view public.heap as select * from public.mine`;
    await sql`create function public.asked() returns setof reporting.average_tps
      language sql as 'select * from reporting.average_tps'`;
    evidence.serve("user's objects in the way", 3);
    const before = await reporting(world);
    const refused = await migrate(world);
    evidence.exit("migrate, with a user's objects in the way", refused.ending, [2], 60_000);
    for (const name of ['public.mine', 'public.asked'])
      evidence.claim(`${name} is named`, refused.said.includes(name));
    evidence.claim('nothing was changed', (await reporting(world)) === before);
    const [kept] = await sql`select from public.heap`;
    evidence.claim("the user's materialised view is there", kept !== undefined);

    await sql`drop function public.asked`;
    await sql`drop view public.mine cascade`;
    const held = await sql.reserve();
    await held`begin`;
    await held`lock table reporting.freshness in access share mode`;
    const killed = migrate(world);
    for (let rows = 0; rows === 0; ) {
      const found = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%derived%'`;
      rows = found.length;
      if (rows > 0) evidence.serve('killed between two objects');
    }
    const failed = await killed;
    await held`rollback`;
    held.release();
    evidence.exit('migrate, whose connection was cut', failed.ending, [1, 75], 60_000);
    evidence.claim('a kill changed nothing', (await reporting(world)) === before);
    evidence.exit('migrate, again', (await migrate(world)).ending, [0], 60_000);
    evidence.claim('all is whole', (await reporting(world)) === whole);
  },
};

export const migratingFaults: readonly Fault[] = [theirs];
