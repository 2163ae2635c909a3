import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalog } from '../../src/datasets/catalog.ts';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import type { Dataset } from '../../src/datasets/contract.ts';
import { SharedBudget } from '../../src/db/budget.ts';
import { budgetKey } from '../../src/db/budget-key.ts';
import { openSealing } from '../../src/db/client.ts';
import { migrateDatabase, schemaProblem } from '../../src/db/migrate.ts';
import { recorded } from '../../src/recorded.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { datasetViews } from '../../src/views/dataset-views.ts';
import { declaredObjects } from '../../src/views/declared.ts';
import { migrate } from '../../src/views/migrate.ts';
import { lastRelease, lostSince, type Released } from '../../src/views/released.ts';
import { cloneOf, emptyDatabase, type TestDatabase } from '../support/database.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/recording.ts';
import { rowsOf } from '../support/rows.ts';

/**
 * Databases that earlier versions recorded from the sandbox, as their dumps (pg_dump --inserts): with members that
 * changed, left and came back, failures, gaps, and an EVM address that was watched in two spellings.
 */
const folder = join(import.meta.dirname, 'recorded');
const versions = readdirSync(folder).map((file) => file.replace('.sql.gz', ''));

let database: TestDatabase;
let sql: postgres.Sql;
afterEach(async () => {
  await sql.end();
  await database.close();
});

interface Prepared {
  /** As the version left it. */
  readonly restored: TestDatabase;
  /** Brought to this version. */
  readonly migrated: TestDatabase;
  /** What the migration said. */
  readonly told: readonly string[];
}

const prepared = new Map<string, Prepared>();
beforeAll(async () => {
  for (const version of versions) prepared.set(version, await prepare(version));
});
afterAll(async () => {
  for (const { restored, migrated } of prepared.values()) {
    await restored.close();
    await migrated.close();
  }
});

async function prepare(version: string): Promise<Prepared> {
  const restored = await emptyDatabase();
  const dump = gunzipSync(readFileSync(join(folder, `${version}.sql.gz`))).toString();
  const loading = postgres(restored.url, { max: 1, onnotice: () => {} });
  await loading.unsafe(dump);
  await loading.end();
  const migrated = await cloneOf(restored);
  return { restored, migrated, told: await migrate(migrated.url) };
}

/** Gives the test a clone of the database of a version. @returns what the migration said */
async function use(version: string, state: 'restored' | 'migrated'): Promise<readonly string[]> {
  const of = prepared.get(version);
  if (!of) throw new Error(`nothing is recorded of ${version}`);
  database = await cloneOf(of[state]);
  sql = postgres(database.url, { max: 2, onnotice: () => {} });
  return of.told;
}

const restore = (version: string) => use(version, 'restored');

/** Goes on with the database as {@link migrate} makes it of the one that was restored, to which nothing was done. */
async function goOnMigrated(version: string): Promise<readonly string[]> {
  await sql.end();
  await database.close();
  return use(version, 'migrated');
}

/** What stands in `reporting`, as a release says it. */
async function standing(): Promise<Released['objects']> {
  const rows = await sql<{ kind: 'view' | 'function'; object: string; part: string; content: string[][] }[]>`
    with parts as (
      select 'view' as kind, c.relname as object, 'columns' as part, a.attname as name,
        format_type(a.atttypid, a.atttypmod) as type, a.attnum as place
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where c.relnamespace = 'reporting'::regnamespace and c.relkind = 'v'
      union all
      select 'function', p.proname, case m.mode when 't' then 'columns' else 'parameters' end, m.name, format_type(m.type, null), m.place
      from pg_proc p cross join lateral unnest(p.proargnames, p.proargmodes, coalesce(p.proallargtypes, p.proargtypes::oid[]))
        with ordinality as m(name, mode, type, place)
      where p.pronamespace = 'reporting'::regnamespace
      union all
      select 'function', p.proname, 'columns', a.attname, format_type(a.atttypid, a.atttypmod), a.attnum
      from pg_proc p join pg_class c on c.reltype = p.prorettype join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      where p.pronamespace = 'reporting'::regnamespace
      union all
      select 'function', p.proname, 'value', '', format_type(p.prorettype, null), 1
      from pg_proc p where p.pronamespace = 'reporting'::regnamespace and not p.proretset)
    select kind, object, part, json_agg(array[name, replace(type, 'timestamp with time zone', 'timestamptz')]
      order by place) as content
    from parts group by kind, object, part order by object collate "C"`;
  const objects: Released['objects'] = {};
  for (const { kind, object, part, content } of rows) {
    const one = objects[object] ?? { kind, columns: {} };
    objects[object] = one;
    const types = Object.fromEntries(content);
    if (part === 'value') one.value = types[''];
    else one[part === 'columns' ? 'columns' : 'parameters'] = types;
  }
  return objects;
}

/** A dataset as if the upstream had begun to show another field, in its items and in those of its lists. */
function withFieldBeforeOthers(dataset: Dataset): Dataset {
  const columns = dataset.columns.map((column) =>
    column.element instanceof z.ZodObject
      ? { ...column, element: z.object({ newField: z.string(), ...column.element.shape }) }
      : column,
  );
  const field = { name: 'new_field', type: 'text', nullable: true, path: ['newField'], comment: 'New.' };
  return { ...dataset, columns: [field, ...columns] };
}

/** How many rows each dataset has, and how many of those are as it is now. */
async function rowCounts(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of recorded) {
    // The version that recorded may not have known the dataset.
    const [table] = await sql<{ is: boolean }[]>`select to_regclass(${`recorder.${name}`}) is not null as is`;
    if (!table?.is) continue;
    const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from ${sql(`recorder.${name}`)}`;
    counts[name] = row?.rows ?? 0;
  }
  return counts;
}

/** Datasets of addresses of EVM chains, of which one was watched in two spellings. */
const SPELT_TWICE = new Set([
  'native_transactions',
  'erc1155_transfers',
  'native_balances',
  'erc1155_balances',
  'deployed_contracts',
]);

it('the last release has in `reporting` what its recorded database has', async () => {
  const { version } = lastRelease;
  await restore(version);
  const recordedByIt = { version, objects: await standing() };
  expect(lostSince(lastRelease, recordedByIt)).toEqual([]);
  expect(lostSince(recordedByIt, lastRelease)).toEqual([]);
});

describe.each(versions)('a database that version %s recorded', (version) => {
  it('is brought to this version with all its rows, and every view reads them', async () => {
    await restore(version);
    const before = await rowCounts();
    expect(Object.values(before).filter((rows) => rows > 0).length).toBeGreaterThan(30);
    await sql`create view public.mine as select dataset, target, late_by from reporting.freshness`;
    await migrate(database.url);
    expect(await schemaProblem(sql)).toBeNull();
    const after = await rowCounts();
    // What was recorded of one address in two spellings is one thing now.
    for (const [name, rows] of Object.entries(before)) {
      if (SPELT_TWICE.has(name)) expect(after[name], name).toBeLessThan(rows);
      else expect(after[name], name).toBe(rows);
    }
    const views = await sql<{ name: string }[]>`
      select table_name as name from information_schema.views where table_schema = 'reporting'`;
    for (const { name } of views) await sql`select * from reporting.${sql(name)} limit 1`;
    expect((await sql`select * from public.mine`).length).toBeGreaterThan(50);
  });

  it('has every value of every metric point as it was, and as of whichever moment', {
    timeout: 180_000,
  }, async () => {
    await restore(version);
    // More than the sandbox told: of forty series a hundred points each, with up to three values, some of which vanished.
    await sql`
      insert into recorder.metric_points (chain_id, metric, time_interval, bucket_start, value, extra, recorded_at, superseded_at, vanished, run_id)
      select 'c' || n % 8, 'm' || n % 5, 'hour', t, n / 40 + v / 7.0, case when n % 50 = 0 then '{"more": 1}'::jsonb end,
        t + v * interval '3 hours', case when v < n % 3 or n % 11 = 0 then t + (v + 1) * interval '3 hours' end, v = n % 3 and n % 11 = 0, n
      from generate_series(0, 3999) n, generate_series(0, 2) v, lateral (select timestamptz '2026-01-01Z' + n / 40 * interval '1 hour' as t) t
      where v <= n % 3
      order by t + v * interval '3 hours'`;
    const columns =
      'chain_id, metric, time_interval, bucket_start, value, extra, recorded_at, superseded_at, vanished, run_id';
    const every = (from: string) =>
      sql.unsafe(
        `select ${columns} from ${from} order by chain_id, metric, time_interval, bucket_start, recorded_at`,
      );
    // Two hundred moments, the same in every run, from the first value on.
    const moments = await sql<{ at: string }[]>`
      select (first + (last - first) * ((n * 7919) % 200 / 199.0))::text as at
      from (select min(recorded_at) as first, max(greatest(recorded_at, superseded_at)) as last from recorder.metric_points) b,
        generate_series(0, 199) n`;
    const asOf = (rows: string) =>
      sql.unsafe(
        `select m.at, count(*) as points, md5(string_agg(concat_ws('|', p.chain_id, p.metric, p.time_interval, p.bucket_start, p.value, p.recorded_at, p.run_id), ';'
          order by p.chain_id, p.metric, p.time_interval, p.bucket_start)) as said
        from unnest($1::text[]) m(at) left join lateral ${rows} p on true group by 1 order by 1`,
        [`{${moments.map(({ at }) => `"${at}"`).join(',')}}`],
      );
    const before = await every('recorder.metric_points');
    const then = await asOf(
      '(select * from recorder.metric_points where recorded_at <= m.at::timestamptz and (superseded_at is null or superseded_at > m.at::timestamptz))',
    );
    expect(before.length).toBeGreaterThan(7_000);
    await migrate(database.url);
    await sql`update recorder.target_datasets set first_success_at = '2025-01-01Z' where dataset = 'metric_points'`;
    expect([...(await every('reporting.metric_points_revisions'))]).toEqual([...before]);
    expect([...(await asOf('reporting.metric_points_as_of(m.at::timestamptz)'))]).toEqual([...then]);
    const [left] = await sql`select to_regclass('recorder.metric_points_by_text') as by_text`;
    expect(left?.by_text).toBeNull();
  });

  it('keeps every column of every view and function, with its type and its place', async () => {
    await restore(version);
    const before = { version, objects: await standing() };
    expect(Object.keys(before.objects).length).toBeGreaterThan(50);
    expect(await goOnMigrated(version)).toEqual([]);
    expect(lostSince(before, { version: 'this', objects: await standing() })).toEqual([]);
  });

  it('gets a field before the others of every item and list, and materialised views upon all of it stay', async () => {
    await restore(version);
    const views = Object.entries(await standing()).flatMap(([name, { kind }]) =>
      kind === 'view' ? name : [],
    );
    await sql`create schema mine`;
    for (const name of views)
      await sql`create materialized view ${sql(`mine.${name}`)} as select * from reporting.${sql(name)}`;
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'recorder'::regnamespace and relkind = 'r'`;
    // A numbered table is made anew, of the columns that this version knows.
    const grown = catalog
      .filter(({ name: own, numbered }) => !numbered && tables.some(({ name }) => name === own))
      .map(withFieldBeforeOthers);
    for (const { name } of grown) await sql`alter table recorder.${sql(name)} add column new_field text`;
    const declared = new Map(
      [...declaredObjects(), ...grown.flatMap(datasetViews)].map((object) => [object.name, object]),
    );
    const theirs = async () => [
      ...(await sql`select oid::int, relname from pg_class where relnamespace = 'mine'::regnamespace order by 1`),
    ];
    const before = await theirs();
    expect(before.length).toBeGreaterThan(50);
    expect(await migrateDatabase(database.url, [...declared.values()])).toEqual([]);
    expect(await theirs()).toEqual(before);
    const [shown] = await sql<{ views: number }[]>`
      select count(distinct attrelid)::int as views from pg_attribute join pg_class c on c.oid = attrelid
      where c.relnamespace = 'reporting'::regnamespace and attname ~ 'new_field'`;
    expect(shown?.views).toBeGreaterThan(grown.length);
  });

  it('has no null where chain-recorder/schema says that there is none', async () => {
    await use(version, 'migrated');
    const wrong: string[] = [];
    for (const { kind, name, columns } of declaredObjects()) {
      if (kind === 'function') continue;
      for (const column of columns.filter(({ notNull }) => notNull)) {
        const [row] = await sql<{ found: boolean }[]>`
          select exists (select from reporting.${sql(name)} where ${sql(column.name)} is null) as found`;
        if (row?.found) wrong.push(`${name}.${column.name}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('keeps what was known of each target, by dataset', async () => {
    await restore(version);
    const known = await sql<{ targets: number; late: number }[]>`
      select count(*)::int as targets from reporting.freshness`;
    await goOnMigrated(version);
    // Six datasets of one address that was watched in two spellings.
    const [now] = await sql`select count(*)::int as targets from reporting.freshness`;
    expect(now?.targets).toBe((known[0]?.targets ?? 0) - 6);
    const [failing] = await sql`
      select distinct failures, last_failure_at is not null as failed, last_success_at is not null as succeeded
      from recorder.target_datasets where source = 'current-supply'`;
    expect(failing).toEqual({ failures: 2, failed: true, succeeded: true });
    const [complete] = await sql`
      select count(*)::int as datasets, count(last_complete_at)::int as complete, bool_and(active) as active
      from recorder.target_datasets where source = 'current-validators'`;
    expect(complete).toEqual({ datasets: 4, complete: 4, active: true });
    const [left] =
      await sql`select bool_or(active) as active from recorder.target_datasets where dataset = 'x_assets'`;
    expect(left).toEqual({ active: false });
  });

  it('tells lock times also as numbers, without a new version, and keeps what users built upon the views', async () => {
    await restore(version);
    const built = ['subnets', 'validators_history', 'x_utxos', 'staking_transactions'];
    for (const name of built)
      await sql`create view ${sql(`public.${name}`)} as select * from reporting.${sql(name)}`;
    // As it was recorded of an output that is locked for ever.
    const [locked] = await sql<{ id: string }[]>`
      update recorder.x_utxos set locktime = null, utxo = overlay(utxo placing 'ffffffffffffffff' from 167)
      where ctid = (select ctid from recorder.x_utxos where locktime is not null limit 1) returning utxo_id as id`;
    await migrate(database.url);
    const raw = recorded.flatMap(({ name, columns }) =>
      columns.flatMap(({ name: column, part }) => (part === 'raw' ? [{ name, column }] : [])),
    );
    let told = 0;
    for (const { name, column } of raw) {
      const time = column.replace(/_raw$/, '');
      const [row] = await sql<{ told: number; different: number }[]>`
        select count(${sql(column)})::int as told, count(*) filter (where ${sql(time)} is not null and ${sql(column)}::text
            is distinct from extract(epoch from ${sql(time)})::bigint::text)::int as different
        from recorder.${sql(name)}`;
      expect(row?.different, `${name}.${column}`).toBe(0);
      told += row?.told ?? 0;
    }
    expect(told).toBeGreaterThan(0);
    const forever =
      await sql`select utxo_id as id, locktime_raw::text from recorder.x_utxos where locktime is null and locktime_raw is not null`;
    expect([...forever]).toEqual([{ id: locked?.id, locktime_raw: '18446744073709551615' }]);
    for (const name of built) await sql`select * from ${sql(`public.${name}`)} limit 1`;
  });

  it('finds what was recorded where the upstream says something else of it now', async () => {
    await use(version, 'migrated');
    const stored = await sql<
      { tx_hash: string; address: string; chain_id: string; block: string; at: Date }[]
    >`
      select tx_hash, address, chain_id, block_number::text as block, recorded_at as at from reporting.native_transactions`;
    const [moved] = stored;
    if (!moved) throw new Error('no transaction was recorded');
    const feed = scriptedFeed(nativeTransactions, { chainId: moved.chain_id, address: moved.address });
    const item = { txHash: moved.tx_hash, blockNumber: `${moved.block}0`, blockTimestamp: 1_700_000_000 };
    feed.script = () => onlyPage({ transactions: [item] });
    expect(await run(recordingContext(sql, Date.now), feed)).toMatchObject({ rowsWritten: [1] });
    const said = await sql<{ block: string; at: Date; shown: boolean }[]>`
      select block_number::text as block, recorded_at as at, superseded_at is null as shown
      from reporting.native_transactions_conflicts order by recorded_at`;
    expect([...said]).toEqual([
      { block: moved.block, at: moved.at, shown: false },
      { block: `${moved.block}0`, at: expect.any(Date), shown: true },
    ]);
    expect(await sql`select 1 from reporting.native_transactions`).toHaveLength(stored.length);
  });

  it('leaves a block and a count behind: which URL they are about is not known', async () => {
    await restore(version);
    await sql`
      insert into recorder.budgets (upstream, minute, minute_units, day, day_units, blocked_until)
      values ('chainData', now(), 5, now(), 7, now() + interval '1 hour') on conflict (upstream) do nothing`;
    await migrate(database.url);
    expect([...(await sql`select upstream from recorder.budgets`)]).toEqual([]);
    const budget = new SharedBudget(
      sql,
      budgetKey('chainData', 'https://one.example', undefined),
      { perMinute: 10, perDay: undefined },
      Date.now,
    );
    await budget.take(1, 'poll', new AbortController().signal);
    expect(await sql`select upstream from recorder.budgets`).toHaveLength(1);
  });

  it('holds what was quarantined again and again once, and counts it', async () => {
    await restore(version);
    await sql`truncate recorder.quarantine`;
    await sql`
      insert into recorder.quarantine (dataset, target_key, run_id, quarantined_at, observed_at, reason, item)
      select 'validators', 'node=a', n, timestamptz '2026-01-01' + make_interval(days => n), '2026-01-01', reason, '{"a":"ü"}'
      from generate_series(1, 3) as n, unnest(array['one', 'another']) as reason`;
    await migrate(database.url);
    const rows = await sql`
      select reason, run_id::int, times::int, extract(day from first_seen)::int as first, extract(day from last_seen)::int as last
      from reporting.quarantine order by reason`;
    const same = { run_id: 3, times: 3, first: 2, last: 4 };
    expect([...rows]).toEqual([
      { reason: 'another', ...same },
      { reason: 'one', ...same },
    ]);
  });

  it('has one spelling of every address and hash, also in targets and lists', async () => {
    await restore(version);
    const covered = await sql`
      select dataset, lower(target_key) as target_key, range_agg(covered)::text as covered from recorder.coverage
      where target_key ~ '0x' group by 1, 2 order by 1, 2`;
    await goOnMigrated(version);
    const mixed: string[] = [];
    for (const { name, columns } of recorded)
      for (const { name: column, type } of columns) {
        if (type !== 'text') continue;
        const [row] = await sql<{ found: boolean }[]>`select exists (
          select from ${sql.unsafe(rowsOf(name))} r where ${sql(column)} ~ '^0x[0-9a-fA-F]*[A-F]') as found`;
        if (row?.found) mixed.push(`${name}.${column}`);
      }
    for (const table of [
      'targets',
      'target_datasets',
      'runs',
      'run_days',
      'coverage',
      'gaps',
      'quarantine',
    ]) {
      const [row] = await sql<{ found: boolean }[]>`select exists (
        select from ${sql(`recorder.${table}`)} where target_key ~ '=0x[0-9a-fA-F]*[A-F]') as found`;
      if (row?.found) mixed.push(table);
    }
    for (const column of [
      'erc20_transfers',
      'erc721_transfers',
      'erc1155_transfers',
      'internal_transactions',
    ]) {
      const [row] = await sql<{ found: boolean }[]>`select exists (
        select from recorder.evm_transactions where ${sql(column)}::text ~ '"address": "0x[0-9a-f]*[A-F]') as found`;
      if (row?.found) mixed.push(column);
    }
    expect(mixed).toEqual([]);
    const kept = await sql`
      select dataset, lower(target_key) as target_key, range_agg(covered)::text as covered from recorder.coverage
      where target_key ~ '0x' group by 1, 2 order by 1, 2`;
    expect([...kept]).toEqual([...covered]);
    const [joined] = await sql<{ rows: number; sent: number }[]>`
      select count(*)::int as rows, count(*) filter (where address in (from_address, to_address))::int as sent
      from reporting.native_transactions`;
    expect(joined?.rows).toBeGreaterThan(0);
    expect(joined?.sent).toBe(joined?.rows);
    const overlapping = await sql`
      select 1 from reporting.native_balances_history a join reporting.native_balances_history b
        using (chain_id, address) where a.valid_from < b.valid_from and (a.valid_to is null or a.valid_to > b.valid_from)`;
    expect([...overlapping]).toEqual([]);
  });
});

describe.each(versions)('the readings of a database that %s recorded', (version) => {
  it('are packed a day at a time, and every one is as it was, now and as of each day', async () => {
    await use(version, 'migrated');
    const packedHere = catalog.filter(({ history }) => history === 'sample');
    const all = () =>
      Promise.all(
        packedHere.map(async ({ name }) => {
          const rows = await sql.unsafe<{ row: string }[]>(`select r::text as row from reporting.${name} r`);
          return rows.map(({ row }) => row).sort();
        }),
      );
    const before = await all();
    expect(before.flat().length).toBeGreaterThan(100);
    const own = openSealing(database.url, 60_000);
    const closed = await closeDays(own, Date.now(), new AbortController().signal);
    await own.end();
    expect(closed).toEqual({ packed: before.flat().length, kept: 0, failed: [] });
    expect(await all()).toEqual(before);
  });
});
