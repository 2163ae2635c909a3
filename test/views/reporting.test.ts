import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
let sql: postgres.Sql;
let reader: postgres.ReservedSql;

beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 3, onnotice: () => {} });
  reader = await sql.reserve();
  await reader`set role recorder_reader`;
});
afterAll(async () => {
  reader.release();
  await sql.end();
  await database.close();
});

const views = async () => {
  const rows = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'reporting'::regnamespace and relkind in ('r', 'v', 'm', 'p')`;
  return rows.map(({ name }) => name);
};

describe('reporting', () => {
  it('explains every view and every column', async () => {
    expect((await views()).length).toBeGreaterThan(20);
    const unexplained = await sql<{ object: string }[]>`
      select c.relname || coalesce('.' || a.attname, '') as object
      from pg_class c
      left join lateral (
        select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
        union all select null, 0) a on true
      where c.relnamespace = 'reporting'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
        and coalesce(trim(case a.attnum when 0 then obj_description(c.oid, 'pg_class')
          else col_description(c.oid, a.attnum) end), '') = ''`;
    expect(unexplained.map(({ object }) => object)).toEqual([]);
  });

  it('explains every function', async () => {
    const unexplained = await sql`
      select proname from pg_proc where pronamespace = 'reporting'::regnamespace
        and coalesce(obj_description(oid, 'pg_proc'), '') = ''`;
    expect([...unexplained]).toEqual([]);
  });
});

describe('blocks that contradict each other', () => {
  it('are kept and shown side by side', async () => {
    const blocks = [
      ['p-chain', 7, 'one'],
      ['p-chain', 7, 'another'],
      ['x-chain', 7, 'one'],
      ['p-chain', 8, 'eight'],
    ] as const;
    for (const [chain, number, hash] of blocks)
      await sql`
        insert into recorder.proposed_blocks (network, blockchain_id, block_number, block_hash, parent_hash,
          block_timestamp, block_type, tx_count, transactions, block_size_bytes, recorded_at, run_id)
        values ('mainnet', ${chain}, ${number}, ${hash}, '', now(), '', 0, '[]', 0, now(), 1)`;
    const rows = await reader`
      select blockchain_id, block_number, block_hash from reporting.proposed_blocks_conflicts order by block_hash`;
    expect([...rows]).toEqual([
      { blockchain_id: 'p-chain', block_number: '7', block_hash: 'another' },
      { blockchain_id: 'p-chain', block_number: '7', block_hash: 'one' },
    ]);
  });
});

describe('the role recorder_reader', () => {
  it('reads every view', async () => {
    for (const name of await views()) await reader`select * from reporting.${sql(name)} limit 0`;
  });

  it('calls every function of a moment', async () => {
    const functions = await sql<{ name: string }[]>`
      select proname as name from pg_proc where pronamespace = 'reporting'::regnamespace and pronargs = 1
        and proargtypes[0] = 'timestamptz'::regtype`;
    expect(functions.length).toBeGreaterThan(3);
    for (const { name } of functions) await reader`select * from reporting.${sql(name)}(now()) limit 0`;
  });

  it('reads and changes nothing of the recorder and its queue', async () => {
    const allowed = await sql<{ object: string }[]>`
      select n.nspname || '.' || c.relname || ' ' || p.privilege as object
      from pg_class c join pg_namespace n on n.oid = c.relnamespace,
        unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as p(privilege)
      where n.nspname in ('recorder', 'drizzle', 'bullmq') and c.relkind in ('r', 'v', 'm', 'p')
        and has_table_privilege('recorder_reader', c.oid, p.privilege)`;
    expect([...allowed]).toEqual([]);
    await expect(reader`select * from recorder.runs`).rejects.toThrow('permission denied');
    const schemas = await sql<{ usage: boolean; create: boolean }[]>`
      select has_schema_privilege('recorder_reader', 'recorder', 'usage') as usage,
        has_schema_privilege('recorder_reader', 'reporting', 'create') as create`;
    expect([...schemas]).toEqual([{ usage: false, create: false }]);
  });

  it('changes nothing in reporting', async () => {
    const allowed = await sql<{ object: string }[]>`
      select c.relname || ' ' || p.privilege as object
      from pg_class c, unnest(array['insert', 'update', 'delete', 'truncate']) as p(privilege)
      where c.relnamespace = 'reporting'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
        and has_table_privilege('recorder_reader', c.oid, p.privilege)`;
    expect([...allowed]).toEqual([]);
  });

  it('cannot log in by itself', async () => {
    const [role] = await sql`
      select rolcanlogin, rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = 'recorder_reader'`;
    expect(role).toEqual({ rolcanlogin: false, rolsuper: false, rolcreaterole: false, rolcreatedb: false });
  });
});
