import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { storeContradictions } from '../../../src/recording/store-contradictions.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase({ max: 3 });
let reader: postgres.ReservedSql;

beforeAll(async () => {
  reader = await sql.reserve();
  await reader`set role recorder_reader`;
});
afterAll(async () => {
  reader.release();
});

const views = async () => {
  const rows = await sql<{ name: string }[]>`
    select relnamespace::regnamespace || '.' || relname as name from pg_class
    where relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and relkind in ('r', 'v', 'm', 'p')`;
  return rows.map(({ name }) => name);
};

describe('reporting', () => {
  it('has a comment on every view and every column', async () => {
    expect((await views()).length).toBeGreaterThan(20);
    const unexplained = await sql<{ object: string }[]>`
      select c.relname || coalesce('.' || a.attname, '') as object
      from pg_class c
      left join lateral (
        select attname, attnum from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped
        union all select null, 0) a on true
      where c.relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and c.relkind in ('r', 'v', 'm', 'p')
        and coalesce(trim(case a.attnum when 0 then obj_description(c.oid, 'pg_class')
          else col_description(c.oid, a.attnum) end), '') = ''`;
    expect(unexplained.map(({ object }) => object)).toEqual([]);
  });

  it('has a comment on every function', async () => {
    const unexplained = await sql`
      select proname from pg_proc where pronamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace)
        and coalesce(obj_description(oid, 'pg_proc'), '') = ''`;
    expect([...unexplained]).toEqual([]);
  });
});

describe('conflicting blocks', () => {
  const insert = (
    rows: readonly (readonly [chain: string, number: number, hash: string])[],
    recordedAt: Date,
  ) =>
    sql`
      insert into recorder.proposed_blocks (network, blockchain_id, block_number, block_hash, parent_hash,
        block_timestamp, block_type, tx_count, transactions, block_size_bytes, valid_from, run_id)
      select 'mainnet', chain, number, hash, '', now(), '', 0, '[]', 0, ${recordedAt}, 1
      from jsonb_to_recordset(${JSON.stringify(rows.map(([chain, number, hash]) => ({ chain, number, hash })))}::text::jsonb)
        as r(chain text, number numeric, hash text)`;
  const reportedConflicts = async () => {
    const rows = await reader<{ row: string }[]>`
      select distinct concat_ws(' ', b.blockchain_id, b.block_number, b.block_hash) as row
      from reporting.disagreements('proposed_blocks') d join reporting.proposed_blocks b
        on d.entity = concat_ws(' ', 'network=' || b.network, 'blockchain_id=' || b.blockchain_id, 'block_number=' || b.block_number)
          and b.block_hash in (d.node_value, d.majority_value) order by 1`;
    return rows.map(({ row }) => row);
  };
  /** Compares all rows with all rows. */
  const comparedConflicts = async () => {
    const rows = await sql<{ row: string }[]>`
      select concat_ws(' ', blockchain_id, block_number, block_hash) as row from recorder.proposed_blocks s
      where valid_to is null and exists (
        select from recorder.proposed_blocks o where o.valid_to is null and o.block_hash <> s.block_hash
          and (o.network, o.blockchain_id, o.block_number) = (s.network, s.blockchain_id, s.block_number)) order by 1`;
    return rows.map(({ row }) => row);
  };

  it('are kept and shown side by side, whenever they were stored', async () => {
    const [start, day] = [Date.UTC(2026, 0, 1), 86_400_000];
    const { signal } = new AbortController();
    const at = (days: number) => new Date(start + days * day);
    await insert([['p-chain', 7, 'one'], ['p-chain', 7, 'another'], ['x-chain', 7, 'one'], ['p-chain', 8, 'eight']], at(0)); // biome-ignore format: a table
    const first = ['p-chain 7 another', 'p-chain 7 one'];
    expect(await reportedConflicts()).toEqual(first);
    await storeContradictions(sql, start + 3 * day, signal);
    expect(await reportedConflicts()).toEqual(first);
    // One of stored conflicts, one of an old row, one of rows of the day that is still compared completely.
    await insert(
      [
        ['p-chain', 7, 'third'],
        ['p-chain', 8, 'other eight'],
      ],
      at(4),
    );
    await insert(
      [
        ['x-chain', 9, 'nine'],
        ['x-chain', 9, 'other nine'],
      ],
      at(2.5),
    );
    const then = await comparedConflicts();
    expect(then).toHaveLength(7);
    expect(await reportedConflicts()).toEqual(then);
    // Forward, again, and with a clock that was set back.
    for (const days of [6, 6, 1]) {
      await storeContradictions(sql, start + days * day, signal);
      expect(await reportedConflicts()).toEqual(then);
    }
    const [stored] = await sql`select count(*)::int as contradictions from recorder.contradictions`;
    expect(stored).toEqual({ contradictions: 3 });
    // An earlier version is not compared any more.
    await sql`update recorder.proposed_blocks set valid_to = ${at(7)} where block_hash in ('other eight', 'nine')`;
    await storeContradictions(sql, start + 9 * day, signal);
    const remaining = await comparedConflicts();
    expect(remaining).toEqual(['p-chain 7 another', 'p-chain 7 one', 'p-chain 7 third']);
    expect(await reportedConflicts()).toEqual(remaining);
  });
});

describe('the role recorder_reader', () => {
  it('reads every view', async () => {
    for (const name of await views()) await reader`select * from ${sql(name)} limit 0`;
  });

  it('calls every as-of function', async () => {
    const functions = await sql<{ name: string }[]>`
      select pronamespace::regnamespace || '.' || proname as name from pg_proc where pronamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and pronargs = 1
        and proargtypes[0] = 'timestamptz'::regtype`;
    expect(functions.length).toBeGreaterThan(3);
    for (const { name } of functions) await reader`select * from ${sql(name)}(now()) limit 0`;
  });

  it("cannot read or change the recorder's own tables and its queue", async () => {
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
      where c.relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and c.relkind in ('r', 'v', 'm', 'p')
        and has_table_privilege('recorder_reader', c.oid, p.privilege)`;
    expect([...allowed]).toEqual([]);
  });

  it('cannot log in', async () => {
    const [role] = await sql`
      select rolcanlogin, rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = 'recorder_reader'`;
    expect(role).toEqual({ rolcanlogin: false, rolsuper: false, rolcreaterole: false, rolcreatedb: false });
  });
});
