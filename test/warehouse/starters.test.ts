import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { duckdbStarter } from '../../scripts/docs/duckdb.ts';
import { relationSql } from '../../src/reporting/views/declared-objects.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Duck, openDuck, rowsInDuck, rowsInPostgres } from './lake.ts';
import { writeRows } from './synthetic.ts';

const { it, database, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC' } });
let duck: Duck;
const lake = temporaryFolder('starters');

beforeAll(async () => {
  duck = await openDuck();
});
afterAll(async () => {
  duck?.close();
});

it('examples/duckdb/lake.sql shows the recorded rows of every dataset, now and at a past moment', async () => {
  const text = readFileSync(new URL('../../examples/duckdb/lake.sql', import.meta.url), 'utf8');
  expect(text, 'npm run docs').toBe(duckdbStarter());
  await duck.rows(text);
  const target = new DirectoryTarget(lake);
  const signal = new AbortController().signal;
  for (const incremental of [false, true]) {
    for (const table of warehouseTables) await writeRows(sql, table, incremental ? 101 : 1, 12);
    await exportTables({
      databaseUrl: database.url,
      target,
      tables: warehouseTables,
      format: 'parquet',
      incremental,
      signal,
    });
  }
  await target.close();
  const at = '2026-11-02T23:00:00Z';
  for (const table of warehouseTables) {
    const { name, relation, from, to, rows } = table;
    expect(await rowsInDuck(duck, `${relation}_versions('${lake}')`, table), name).toEqual(
      await rowsInPostgres(sql, table),
    );
    const ended = to === null ? '' : ` and (${to} is null or ${to} > '${at}')`;
    const then = await rowsInPostgres(
      sql,
      table,
      `(select * from ${rows} r where ${from} <= '${at}'${ended})`,
    );
    expect(await rowsInDuck(duck, `${relation}_as_of('${lake}', timestamptz '${at}')`, table), name).toEqual(
      then,
    );
    expect(then.length, name).toBeGreaterThan(0);
    if (table.kind === 'ledger') continue;
    const versions = relationSql(table.kind === 'sample' ? relation : `${relation}_history`);
    const ids = await sql.unsafe<{ id: string }[]>(
      `select version_id::text as id from ${versions} order by 1`,
    );
    expect(
      await duck.rows(`select version_id::varchar from ${relation}_versions('${lake}') order by 1`),
      `${name}: version_id`,
    ).toEqual(ids.map(({ id }) => [id]));
  }
});
