import { expect } from 'vitest';
import { sealUntil } from '../../../src/reporting/seals/seal.ts';
import { verify } from '../../../src/reporting/seals/verify.ts';
import { withDatabase } from '../../support/fixture.ts';
import { World } from './world.ts';

const { it, database, sql } = withDatabase({ max: 2, connection: { TimeZone: 'UTC' } });

const start = Date.UTC(2026, 0, 1);
const h = (hours: number) => new Date(start + hours * 3_600_000);
const parts = () => sql`
  select dataset, day, kind, seal, part, instants, encode(tags, 'hex') as tags, encode(node, 'hex') as node
  from recorder.seal_parts order by dataset, day, kind, seal, part`;

it('a seal whose connection dies after any statement continues with the same result', async () => {
  const world = new World(sql);
  await world.empty();
  for (let day = 0; day < 4; day++) {
    const run = await world.begin(h(day * 24 + 1));
    await world.point(run, 'txCount', day, run.at);
    await world.member(run, 'AVAX', day, run.at);
    await world.poll(run, ['C', 'P'], day, run.at);
    await world.block(run, day, run.at);
    await world.end(run, run.at);
  }
  const clock = () => h(97).getTime();
  const sealing = { databaseUrl: database.url, clock, key: undefined, signal: new AbortController().signal };
  await sealUntil(sealing, h(96).getTime());
  const heads = () =>
    sql`select seal, sealed_until, sealed_at, head, statement from reporting_internal.seal_heads`;
  const made = await heads();
  expect(made).toHaveLength(1);
  const whole = await parts();
  expect(whole.length).toBeGreaterThan(15);
  // The trigger ends the session before the n-th write of the seal is committed.
  await sql.unsafe(`create function public.dies() returns trigger language plpgsql as $$ begin
    if nextval('public.writes') = current_setting('test.dies_at')::int then perform pg_terminate_backend(pg_backend_pid()); end if;
    return null; end $$`);
  await sql`create sequence public.writes`;
  for (const table of ['seals', 'seal_datasets', 'seal_parts'])
    await sql.unsafe(
      `create trigger dies after insert or update on recorder.${table} for each statement execute function public.dies()`,
    );
  const writes = async () => Number((await sql`select last_value from public.writes`)[0]?.last_value);
  let deaths = 0;
  for (let dies = 1; ; dies += 4) {
    await sql`truncate recorder.seals, recorder.seal_datasets, recorder.seal_parts`;
    await sql.unsafe(
      `alter database ${new URL(database.url).pathname.slice(1)} set test.dies_at = '${dies}'`,
    );
    await sql`alter sequence public.writes restart`;
    const first = await sealUntil(sealing, h(96).getTime()).catch(() => 'died' as const);
    if (first !== 'died') {
      expect(await writes()).toBeLessThan(dies);
      break;
    }
    deaths += 1;
    expect((await verify({ databaseUrl: database.url })).differences).toEqual([]);
    // If only the last response was lost, nothing is left to do.
    await sealUntil(sealing, h(96).getTime());
    expect(await heads()).toEqual(made);
    expect(await parts()).toEqual(whole);
  }
  expect(deaths).toBeGreaterThan(10);
  expect(await verify({ databaseUrl: database.url })).toMatchObject({ broken: [], differences: [] });
});
