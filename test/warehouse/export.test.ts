import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openSealConnection } from '../../src/db/client.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { type ExportInput, exportTables } from '../../src/warehouse/export.ts';
import { type ExportTable, warehouseTables } from '../../src/warehouse/export-table.ts';
import {
  currentManifest,
  type Manifest,
  type ManifestTable,
  manifestText,
} from '../../src/warehouse/manifest.ts';
import { testDatabase } from '../support/database.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Duck, everyRow, openDuck, rowsInDuck, rowsInPostgres, versionsOf } from './lake.ts';
import { MAX_UINT256, writeReadings, writeRows } from './synthetic.ts';

const { it, database, sql } = withDatabase({ max: 3, connection: { TimeZone: 'UTC' } });
let duck: Duck;
const folder = temporaryFolder('export');

beforeAll(async () => {
  duck = await openDuck();
});
afterAll(async () => {
  duck?.close();
});

function findTable(name: string): ExportTable {
  const table = warehouseTables.find((one) => one.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  return table;
}

const into = (name: string) => join(folder, name);

/**
 * Waits until every current transaction of the server has ended, those of other tests too: rows written before them are
 * exported again while they last.
 */
async function noneUnderWay(): Promise<void> {
  const [now] = await sql<{ xid: string }[]>`select pg_current_xact_id()::text as xid`;
  const oldest = async () => {
    const [row] = await sql<{ xid: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as xid`;
    return BigInt(row?.xid ?? 0);
  };
  await expect.poll(oldest, { timeout: 45_000 }).toBeGreaterThan(BigInt(now?.xid ?? 0));
}

async function exportAll(place: string, more: Partial<ExportInput> = {}) {
  await noneUnderWay();
  return exportWithoutWait(place, more);
}

/** During a transaction of the test itself. */
async function exportWithoutWait(place: string, more: Partial<ExportInput>) {
  const target = new DirectoryTarget(into(place));
  try {
    return await exportTables({
      databaseUrl: database.url,
      target,
      tables: warehouseTables,
      format: 'parquet',
      incremental: false,
      signal: new AbortController().signal,
      ...more,
    });
  } finally {
    await target.close();
  }
}

async function manifestOf(place: string): Promise<Manifest> {
  const manifest = await currentManifest(new DirectoryTarget(into(place)));
  if (!manifest) throw new Error(`nothing was exported to ${place}`);
  return manifest;
}

const rowsOf = (manifest: Manifest, name: string) =>
  manifest.tables[name]?.files.reduce((sum, { rows }) => sum + rows, 0);

async function expectEqual(place: string, table: ExportTable): Promise<void> {
  const there = await rowsInPostgres(sql, table);
  const here = await rowsInDuck(duck, versionsOf(into(place), table), table);
  expect(there.length, table.name).toBeGreaterThan(0);
  expect(here.length, table.name).toBe(there.length);
  // The first different row is enough.
  const at = there.findIndex((row, place) => row !== here[place]);
  expect(here[at], table.name).toBe(there[at]);
}

describe('an export', () => {
  beforeAll(async () => {
    for (const table of warehouseTables) await writeRows(sql, table, 1, 60);
  });

  it('of every table, read by DuckDB, equals the record: every row, every digit', async () => {
    const { tables } = await exportAll('whole');
    expect(tables.map(({ table }) => table)).toEqual(warehouseTables.map(({ name }) => name));
    expect(tables.filter(({ rows }) => rows !== 60)).toEqual([]);
    for (const table of warehouseTables) await expectEqual('whole', table);
  });

  it('has types for calculations: instants, decimals, booleans; 256 bits are texts', async () => {
    const types = await duck.rows(
      `select column_name, column_type from (describe select * from read_parquet('${into('whole')}/erc1155_balances/**/*.parquet'))
       union all select column_name, column_type from (describe select * from read_parquet('${into('whole')}/metric_points/**/*.parquet'))
       union all select column_name, column_type from (describe select * from read_parquet('${into('whole')}/p_blocks/**/*.parquet'))`,
    );
    expect(Object.fromEntries(types)).toMatchObject({
      token_id: 'VARCHAR',
      valid_from: 'TIMESTAMP WITH TIME ZONE',
      value: 'DECIMAL(38,18)',
      vanished: 'BOOLEAN',
      height: 'DECIMAL(38,0)',
      run_id: 'BIGINT',
      extra: 'VARCHAR',
    });
    const [[sum] = []] = await duck.rows(
      `select sum(token_id::bignum)::varchar from read_parquet('${into('whole')}/erc1155_balances/**/*.parquet')`,
    );
    expect(sum).toBe(String(60n * BigInt(MAX_UINT256) - (60n * 61n) / 2n));
  });

  it('is stored in folders by the day of the version, by key, with checksums in the manifest', async () => {
    const manifest = await manifestOf('whole');
    const table = manifest.tables.metric_points;
    expect(table?.files.map(({ day, rows }) => ({ day, rows }))).toEqual([
      { day: '2026-11-01', rows: 20 },
      { day: '2026-11-02', rows: 20 },
      { day: '2026-11-03', rows: 20 },
    ]);
    for (const { path, sha256, bytes } of Object.values(manifest.tables).flatMap(({ files }) => files)) {
      const content = readFileSync(join(into('whole'), path));
      expect(content.length).toBe(bytes);
      expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
    }
    const keys = await duck.rows(
      `select chain_id from read_parquet('${into('whole')}/metric_points/day=2026-11-01/*.parquet')`,
    );
    expect(keys.flat()).toEqual([...keys.flat()].sort());
    expect(table?.columns.find(({ name }) => name === 'value')).toEqual({
      name: 'value',
      type: 'numeric',
      stored: 'decimal',
      scale: 18,
      since: 1,
    });
  });

  it.each(['csv', 'jsonl'] as const)('has the same rows as %s', async (format) => {
    const chosen = [findTable('erc1155_transfers'), findTable('node_health')];
    await exportAll(format, { format, tables: chosen });
    for (const whole of chosen) {
      const types = whole.columns.map(({ name }) => `'${name}': 'VARCHAR'`).join(', ');
      const read =
        format === 'csv'
          ? `read_csv('${into(format)}/${whole.name}/*/*.csv', header = true, columns = {${types}, 'exported_at': 'VARCHAR'})`
          : `read_json('${into(format)}/${whole.name}/*/*.jsonl', format = 'newline_delimited', columns = {${types}})`;
      // DuckDB formats JSON within JSON differently; the lines are compared below.
      const table = {
        ...whole,
        columns: whole.columns.filter(({ type }) => format === 'csv' || type !== 'jsonb'),
      };
      const list = table.columns.map(({ name, type }) =>
        type === 'timestamptz' ? `${name}::timestamptz as ${name}` : `nullif(${name}, '') as ${name}`,
      );
      const here = await rowsInDuck(duck, `(select ${list.join(', ')} from ${read})`, table);
      // To a reader of CSV an empty text is null.
      const there = (await rowsInPostgres(sql, table)).map((row) =>
        row.replaceAll(/(?<=[,[])""(?=[,\]])/g, 'null'),
      );
      expect(here.length).toBe(there.length);
      const differing = there.sort().findIndex((row, at) => row !== here[at]);
      expect(here[differing], whole.name).toBe(there[differing]);
    }
    const [file = ''] = (await manifestOf(format)).tables.node_health?.files.map(({ path }) => path) ?? [];
    const text = readFileSync(join(into(format), file), 'utf8');
    if (format === 'jsonl') {
      expect(text).toContain('"extra":{"i": ');
      expect(text).toContain('"exact": "12345678901234567890.120"');
    } else expect(text.split('\r\n')[0]).toMatch(/^observer,node,probe,check_name,.*,exported_at$/);
  });
});

describe('an export since the previous one', () => {
  it('equals the record together with that one, with ends, departures, and a transaction that was running', async () => {
    const place = 'added';
    await exportAll(place);
    // It started before the second export, writes with an instant from before it, and is committed after it.
    const slow = postgres(database.url, { max: 1, onnotice: () => {} });
    await slow.unsafe('begin');
    for (const table of warehouseTables) await writeRows(slow, table, 1_001, 10);
    await slow.unsafe(`savepoint within`);
    await writeRows(slow, findTable('p_blocks'), 1_011, 5);
    await slow.unsafe('release savepoint within');
    for (const table of warehouseTables) await writeRows(sql, table, 2_001, 10);
    for (const table of warehouseTables.filter(({ to }) => to !== null))
      await sql.unsafe(
        `update recorder.${table.name} set ${table.to} = ${table.from} + interval '2 hours' where ${table.to} is null and ${table.from} < '2026-11-03T12:00:00Z'`,
      );
    await sql`update recorder.validators set ended_by = 'gone' where valid_to is not null`;
    const second = await exportWithoutWait(place, { incremental: true });
    expect(second.tables.filter(({ whole }) => whole !== null)).toEqual([]);
    // Only the rows written since.
    expect(second.tables.find(({ table }) => table === 'chain_heights')?.rows).toBe(10);
    await slow.unsafe('commit');
    await slow.end();
    const third = await exportAll(place, { incremental: true });
    for (const { table, rows } of third.tables) expect(rows, table).toBeGreaterThanOrEqual(10);
    for (const table of warehouseTables) await expectEqual(place, table);
  });

  it('writes nothing if nothing was recorded, and packed readings only once', async () => {
    const place = 'packed';
    const table = findTable('validator_uptime');
    for (const [day, run] of [
      ['2026-10-01', 101],
      ['2026-10-02', 102],
    ] as const)
      for (const hour of ['01', '02', '03'])
        await writeReadings(sql, table, { at: `${day}T${hour}:00:00Z`, run, members: 9 });
    await sql`
      insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
      overriding system value
      select i, 's', 't=' || i, '{validator_uptime}', 'poll', 'done', 'w', now(), now(), '{1}', '{1}' from unnest(array[101, 102]) i`;
    await exportAll(place, { tables: [table] });
    const nothing = await exportAll(place, { tables: [table], incremental: true });
    expect(nothing.tables).toMatchObject([{ rows: 0, files: 0 }]);
    const closing = openSealConnection(database.url, 60_000);
    const closed = await closeDays(closing, Date.UTC(2026, 9, 10), new AbortController().signal);
    await closing.end();
    expect(closed).toMatchObject({ packed: 54, failed: [] });
    const after = await exportAll(place, { tables: [table], incremental: true });
    expect(after.tables).toMatchObject([{ rows: 0 }]);
    await expectEqual(place, table);
    // A late row of a closed day, by a separate run, is exported though its day is packed before the next export.
    await writeReadings(sql, table, { at: '2026-10-01T02:00:00.5Z', run: 103, members: 4 });
    const again = openSealConnection(database.url, 60_000);
    await closeDays(again, Date.UTC(2026, 9, 10), new AbortController().signal);
    await again.end();
    expect((await exportAll(place, { tables: [table], incremental: true })).tables).toMatchObject([
      { rows: 4 },
    ]);
    await expectEqual(place, table);
  });

  it('merges days of many small files, and removes replaced files an export later', async () => {
    const place = 'compacted';
    const table = findTable('p_blocks');
    await sql`truncate recorder.p_blocks`;
    for (let turn = 0; turn < 17; turn += 1) {
      await writeRows(sql, table, 1 + turn * 3, 3);
      await exportAll(place, { tables: [table], incremental: true });
    }
    const manifest = await manifestOf(place);
    const files = manifest.tables.p_blocks?.files ?? [];
    expect(files.map(({ day, export: number }) => `${day} ${number}`)).toEqual([
      '2026-11-01 17',
      '2026-11-02 17',
      '2026-11-03 17',
    ]);
    expect(rowsOf(manifest, 'p_blocks')).toBe(51);
    expect(manifest.superseded).toHaveLength(48);
    await expectEqual(place, table);
    const there = () =>
      readdirSync(join(into(place), 'p_blocks'), { recursive: true }).filter((one) =>
        String(one).endsWith('.parquet'),
      );
    expect(there()).toHaveLength(51);
    await exportAll(place, { tables: [table], incremental: true });
    expect(there()).toHaveLength(3);
    await expectEqual(place, table);
  });

  it('removes replaced files at a later export if their removal failed', async () => {
    const place = 'not removable';
    const table = findTable('p_blocks');
    await sql`truncate recorder.p_blocks`;
    await writeRows(sql, table, 1, 3);
    const files = () => readdirSync(join(into(place), 'p_blocks'), { recursive: true }).map(String);
    const parquetFiles = () => files().filter((one) => one.endsWith('.parquet'));
    await exportAll(place, { tables: [table] });
    const [first] = parquetFiles();
    const filesPerExport = parquetFiles().length;
    await exportAll(place, { tables: [table] });
    const target = new DirectoryTarget(into(place));
    target.remove = async () => {
      throw new Error('the target allows no removal');
    };
    await expect(exportWithoutWait(place, { tables: [table], target })).rejects.toThrow('allows no removal');
    // The rows of the failed export are valid, and its manifest lists the files of both earlier exports.
    const { export: number, superseded } = await manifestOf(place);
    expect([number, superseded.length]).toEqual([3, 2 * filesPerExport]);
    expect(parquetFiles()).toContain(first);
    await exportAll(place, { tables: [table] });
    await exportAll(place, { tables: [table] });
    expect(parquetFiles()).toHaveLength(2 * filesPerExport);
    await expectEqual(place, table);
  });

  it('adds a column of texts if a number does not fit, and reports it', async () => {
    const place = 'widened';
    const table = findTable('average_tps');
    await exportAll(place, { tables: [table] });
    const long = `${'7'.repeat(60)}.125`;
    await sql.unsafe(
      `insert into recorder.average_tps (chain_id, bucket_start, value, valid_from, run_id) values ('long', '2026-11-01', ${long}, '2026-11-01T10:00:00Z', 1)`,
    );
    const { tables, manifest } = await exportAll(place, { tables: [table], incremental: true });
    expect(tables).toMatchObject([{ rows: 1, added: ['value_exact'] }]);
    expect(manifest.changes).toEqual([{ export: 2, table: 'average_tps', added: ['value_exact'] }]);
    const found = await duck.rows(
      `select value::varchar, value_exact from ${versionsOf(into(place), table)} where chain_id = 'long'`,
    );
    expect(found).toEqual([[null, long]]);
    await sql`delete from recorder.average_tps where chain_id = 'long'`;
  });

  it.each<[string, (table: ManifestTable) => ManifestTable]>([
    ['day', (table) => ({ ...table, files: table.files.map((one) => ({ ...one, day: "2026-11-01'; --" })) })],
    ['key', (table) => ({ ...table, key: ['network"; --'] })],
    ['from', (table) => ({ ...table, from: 'valid_from"; --' })],
  ])('never runs the %s of a manifest by another program as SQL', async (what, hostile) => {
    const place = `foreign-${what}`;
    const table = findTable('p_blocks');
    await exportAll(place, { tables: [table] });
    const manifest = await manifestOf(place);
    const tables = Object.entries(manifest.tables).map(([name, one]) => {
      const files = Array.from({ length: 16 }, () => one.files).flat();
      return [name, hostile({ ...one, files })];
    });
    const text = manifestText({ ...manifest, tables: Object.fromEntries(tables) });
    for (const name of ['manifest.json', 'manifests/00000001.json'])
      writeFileSync(join(into(place), name), text);
    await expect(exportAll(place, { tables: [table], incremental: true })).rejects.toThrow(
      new RegExp(`not a valid manifest for this version[^]*tables.p_blocks.*${what}`),
    );
  });

  it('removes no file outside of the folder for a manifest by another program', async () => {
    const table = findTable('p_blocks');
    await exportAll('foreign-path', { tables: [table] });
    const manifest = await manifestOf('foreign-path');
    const foreign = join(into('foreign-path'), '..', 'a file of another program');
    writeFileSync(foreign, 'theirs');
    const text = manifestText({ ...manifest, superseded: ['../a file of another program'] });
    for (const name of ['manifest.json', 'manifests/00000001.json'])
      writeFileSync(join(into('foreign-path'), name), text);
    const again = exportAll('foreign-path', { tables: [table], incremental: true });
    await expect(again).rejects.toThrow(/not a valid manifest for this version.*superseded/s);
    expect(readFileSync(foreign, 'utf8')).toBe('theirs');
  });

  it.each(['p_blocks', 'manifests', '.incomplete'])(
    'writes and removes nothing behind a symbolic link at the path of the folder %s',
    async (name) => {
      const place = `link-${name}`;
      const table = findTable('p_blocks');
      await exportAll(place, { tables: [table] });
      const behind = join(folder, `behind-${name}`);
      mkdirSync(behind);
      if (name !== '.incomplete') cpSync(join(into(place), name), behind, { recursive: true });
      const before = readdirSync(behind, { recursive: true }).sort();
      rmSync(join(into(place), name), { recursive: true, force: true });
      symlinkSync(behind, join(into(place), name));
      for (const incremental of [true, false])
        await expect(exportAll(place, { tables: [table], incremental })).rejects.toThrow(
          /is a symbolic link/,
        );
      expect(readdirSync(behind, { recursive: true }).sort()).toEqual(before);
    },
  );

  it('in another format than the existing one is refused', async () => {
    await expect(exportAll('csv', { incremental: true })).rejects.toThrow(/--format csv/);
  });
});

describe('two exports at once', () => {
  it('have one winner, and the other reports it and leaves no files', async () => {
    const place = 'two';
    const tables = [findTable('p_blocks')];
    await exportAll(place, { tables });
    let waiting = 2;
    let meet = () => {};
    const met = new Promise<void>((resolve) => {
      meet = resolve;
    });
    class Together extends DirectoryTarget {
      /** Waits until both exports are about to publish. */
      override async create(path: string, text: string): Promise<boolean> {
        waiting -= 1;
        if (waiting === 0) meet();
        await met;
        return super.create(path, text);
      }
    }
    const targets = [new Together(into(place)), new Together(into(place))];
    const results = await Promise.allSettled(targets.map((target) => exportAll(place, { tables, target })));
    await Promise.all(targets.map((target) => target.close()));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((one) => one.status === 'rejected')?.reason).toMatchObject({
      name: 'ExportLostError',
    });
    const manifest = await manifestOf(place);
    expect(manifest.export).toBe(2);
    await expectEqual(place, findTable('p_blocks'));
  });

  it('exclude one that is so slow that others made three, which reports it', async () => {
    const place = 'slow';
    const tables = [findTable('p_blocks')];
    class Slow extends DirectoryTarget {
      override async create(path: string, text: string): Promise<boolean> {
        for (let made = 0; made < 3; made += 1) await exportAll(place, { tables });
        return super.create(path, text);
      }
    }
    const target = new Slow(into(place));
    await expect(exportAll(place, { tables, target })).rejects.toMatchObject({ name: 'ExportLostError' });
    await target.close();
    await expectEqual(place, findTable('p_blocks'));
  });
});

describe('removed rows of a retention', () => {
  const table = findTable('p_blocks');
  type Heads = readonly string[];
  const insertSeals = async (there: postgres.Sql, heads: Heads) => {
    for (const [place, head] of heads.entries())
      await there`
        insert into recorder.seals (seal, until, began_at, open, made_at, head)
        values (${place + 1}, ${new Date(Date.UTC(2026, 10, place + 1))}, now(), '[]', now(), ${head})`;
  };
  /** Files of a record with these seals, with 60 rows. */
  const filesOf = async (place: string, heads: Heads) => {
    await sql`truncate recorder.p_blocks`;
    await writeRows(sql, table, 1, 60);
    await insertSeals(sql, heads);
    const { manifest } = await exportAll(place, { tables: [table] });
    await sql`delete from recorder.seals`;
    expect(rowsOf(manifest, 'p_blocks')).toBe(60);
  };
  /** A database with these seals and 7 rows, from which the exported rows were removed. */
  const withSeals = async (heads: Heads, work: (databaseUrl: string) => Promise<void>) => {
    const other = await testDatabase();
    const there = postgres(other.url, { max: 1, onnotice: () => {} });
    try {
      await writeRows(there, table, 5_001, 7);
      await there`insert into recorder.retention (dataset, kept_since, moved_at) values ('p_blocks', '2100-01-01', now())`;
      await insertSeals(there, heads);
      await work(other.url);
    } finally {
      await there.end();
      await other.close();
    }
  };

  it('stay in the files unless an export of the whole record without them is requested', async () => {
    const place = 'retained';
    await filesOf(place, ['ab', 'cd', 'ef']);
    await withSeals(['ab', 'cd', 'ef'], async (databaseUrl) => {
      const forced = await exportAll(place, { tables: [table], incremental: true, databaseUrl });
      expect(forced.tables).toMatchObject([{ rows: 7, whole: expect.stringContaining('another database') }]);
      expect(rowsOf(forced.manifest, 'p_blocks')).toBe(60 + 7);
      const whole = await exportAll(place, { tables: [table], databaseUrl });
      expect(rowsOf(whole.manifest, 'p_blocks')).toBe(7);
    });
  });

  it.each([
    ['that lacks their newest seals', ['ab']],
    ['with other seals since', ['ab', '01', '23', '45']],
  ])(
    'stay in the files of a record that was restored from a backup older than the files, %s',
    async (_, heads) => {
      const place = `set back ${heads.length}`;
      await filesOf(place, ['ab', 'cd', 'ef']);
      await withSeals(heads, async (databaseUrl) => {
        for (const more of [7, 0]) {
          const { tables, manifest } = await exportAll(place, {
            tables: [table],
            incremental: true,
            databaseUrl,
          });
          expect(tables).toMatchObject([{ rows: more }]);
          expect(rowsOf(manifest, 'p_blocks')).toBe(60 + 7);
        }
      });
    },
  );

  it('are reported as lost if their file is damaged, and the rest stays', async () => {
    const place = 'lost';
    await filesOf(place, ['ab', 'cd']);
    const [damaged, ...others] = (await manifestOf(place)).tables.p_blocks?.files ?? [];
    writeFileSync(join(into(place), damaged?.path ?? ''), 'cut');
    await withSeals(['ab', 'cd'], async (databaseUrl) => {
      const again = await exportAll(place, { tables: [table], incremental: true, databaseUrl });
      const lost = [{ export: 2, table: 'p_blocks', day: damaged?.day, rows: damaged?.rows }];
      expect(again.lost).toEqual(lost);
      expect(rowsOf(again.manifest, 'p_blocks')).toBe(60 + 7 - (damaged?.rows ?? 0));
      expect(again.manifest.tables.p_blocks?.files).toEqual(expect.arrayContaining(others));
      const after = await exportAll(place, { tables: [table], incremental: true, databaseUrl });
      expect(after).toMatchObject({ lost: [], manifest: { lost } });
    });
  });

  it('are not those that the database still has: a damaged file is written again with them', async () => {
    const place = 'still there';
    await sql`truncate recorder.p_blocks`;
    await writeRows(sql, table, 1, 60);
    await insertSeals(sql, ['ab']);
    await exportAll(place, { tables: [table] });
    // Such as versions that are valid at the start of the kept range.
    await sql`insert into recorder.retention (dataset, kept_since, moved_at) values ('p_blocks', '2100-01-01', now())`;
    const [damaged] = (await manifestOf(place)).tables.p_blocks?.files ?? [];
    writeFileSync(join(into(place), damaged?.path ?? ''), 'cut');
    await exportAll(place, { tables: [table], incremental: true });
    await sql`delete from recorder.seals`;
    await sql`delete from recorder.retention`;
    await expectEqual(place, table);
  });

  it('are not those of another record, which has none of the seals of the files', async () => {
    const place = 'strange';
    await filesOf(place, ['ab', 'cd']);
    await withSeals(['01', '23', '45'], async (databaseUrl) => {
      const forced = await exportAll(place, { tables: [table], incremental: true, databaseUrl });
      expect(rowsOf(forced.manifest, 'p_blocks')).toBe(7);
    });
  });
});

describe('a database that was restored from a copy of its folder', () => {
  it('is exported completely: its transaction numbers restart below the exported ones', async () => {
    const place = 'copied back';
    const table = findTable('p_blocks');
    await exportAll(place, { tables: [table] });
    const ahead = await manifestOf(place);
    const { watermark } = ahead.tables.p_blocks ?? {};
    if (!watermark) throw new Error('nothing was exported');
    watermark.xid = String(BigInt(watermark.xid) + 1_000_000n);
    for (const name of ['manifest.json', 'manifests/00000001.json'])
      writeFileSync(join(into(place), name), manifestText(ahead));
    await writeRows(sql, table, 8_001, 5);
    const { tables } = await exportAll(place, { tables: [table], incremental: true });
    expect(tables).toMatchObject([{ whole: 'the database was set back to before the last export' }]);
    await expectEqual(place, table);
  });
});

describe('another database', () => {
  it('is exported completely to a place with the files of the first', async () => {
    const place = 'moved';
    const table = findTable('p_blocks');
    await exportAll(place, { tables: [table] });
    const other = await testDatabase();
    const there = postgres(other.url, { max: 1, onnotice: () => {} });
    try {
      await writeRows(there, table, 5_001, 7);
      const moved = await exportAll(place, { tables: [table], incremental: true, databaseUrl: other.url });
      expect(moved.tables).toMatchObject([{ rows: 7, whole: 'the last export read another database' }]);
      expect(rowsOf(moved.manifest, 'p_blocks')).toBe(7);
    } finally {
      await there.end();
      await other.close();
    }
  });
});

it('compares every recorded row', async () => {
  for (const table of warehouseTables) {
    const [found] = await sql.unsafe<{ rows: number }[]>(
      `select count(*)::int as rows from ${everyRow(table)} t`,
    );
    expect(found?.rows, table.name).toBeGreaterThan(0);
  }
});
