import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { dbtStarters } from '../../scripts/docs/dbt.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import type { Dataset, Window } from '../../src/datasets/contract.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { recordedDatabase } from '../reporting/relations/recorded-database.ts';
import { ManualClock } from '../support/clock.ts';
import type { TestDatabase } from '../support/database.ts';
import { ODD_ROWS } from '../support/odd-rows.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { answersByZone, ZONES } from '../support/zones.ts';
import { type Duck, openDuck } from '../warehouse/lake.ts';
import { MAX_UINT256, writeRows } from '../warehouse/synthetic.ts';

const folder = fileURLToPath(new URL('../../examples/dbt/', import.meta.url));
const text = (path: string) => readFileSync(join(folder, path), 'utf8');
const lake = temporaryFolder('dbt');
let database: TestDatabase;
let sql: postgres.Sql;
let duck: Duck;

beforeAll(async () => {
  database = await recordedDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
  await sql.unsafe(ODD_ROWS);
  duck = await openDuck();
});
afterAll(async () => {
  duck.close();
  await sql.end();
  await database.close();
});

const freshness = z.object({
  loaded_at_query: z.string().optional(),
  meta: z.object({ external_location: z.string() }).optional(),
});
const sources = z.object({
  sources: z.tuple([
    z.object({
      name: z.string(),
      config: freshness.optional(),
      tables: z.array(
        z.object({
          name: z.string(),
          config: freshness.optional(),
          columns: z.array(z.object({ name: z.string() })).default([]),
        }),
      ),
    }),
  ]),
});
const tested = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      data_tests: z.array(
        z.object({ one_row_a_version: z.object({ arguments: z.object({ key: z.string() }) }) }),
      ),
      columns: z
        .array(z.object({ name: z.string(), data_tests: z.array(z.enum(['not_null', 'unique'])) }))
        .default([]),
    }),
  ),
});

/** Replaces `source`, `ref` and `env_var` as dbt does: models are views of their name. */
const renderTemplate = (template: string, locateTable: (table: string) => string) =>
  template
    .replaceAll(/\{\{ source\('\w+', '(\w+)'\) \}\}/g, (_, table: string) => locateTable(table))
    .replaceAll(/\{\{ ref\('(\w+)'\) \}\}/g, '$1')
    .replaceAll("{{ env_var('LAKE') }}", lake);

const files = (path: string) =>
  readdirSync(join(folder, path))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({ name: name.replace('.sql', ''), template: text(`${path}/${name}`) }));

type Run = (statement: string) => Promise<unknown>;

/** Builds each incremental model as dbt does: all rows at first, later those of the condition, by their unique key. */
async function buildIncremental(
  project: string,
  locateTable: (table: string) => string,
  run: Run,
  isFirst: boolean,
): Promise<string[]> {
  const models = files(`${project}/models/incremental`);
  for (const { name, template } of models) {
    const query = renderTemplate(template, locateTable)
      .replace("{{ config(materialized='incremental', unique_key='version_id') }}\n", '')
      .replace(/\{% if is_incremental\(\) %\}\n([\s\S]*?)\{% endif %\}\n/, isFirst ? '' : '$1')
      .replaceAll('{{ this }}', name);
    expect(query).not.toMatch(/\{[{%]/);
    if (isFirst) await run(`create table ${name} as ${query}`);
    else {
      await run(`create temporary table newer as ${query}`);
      await run(`delete from ${name} where version_id in (select version_id from newer)`);
      await run(`insert into ${name} select * from newer`);
      await run('drop table newer');
    }
  }
  return models.map(({ name }) => name);
}

/** Records a subnet's validators, points and blocks that join, change, leave, vanish and arrive late. */
async function recordChanges(round: number): Promise<void> {
  const recording = postgres(database.url, { max: 3, onnotice: () => {} });
  const clock = new ManualClock(Date.UTC(2027, 0, 1 + round));
  const second = (at: number) => Date.UTC(2027, 0, 1 + at) / 1000;
  const members = [
    { nodeID: 'changes', validationID: 'l1', startTime: 1, weight: 1 + round },
    { nodeID: `of round ${round}`, startTime: 1, weight: 1 },
  ];
  const points = [{ timestamp: second(0), value: round }].concat(
    [{ timestamp: second(-1), value: 7 }].slice(round),
  );
  const block = {
    ...proposedBlocks.example,
    blockNumber: '7',
    txCount: round,
    proposerDetails: { proposerNodeId: 'NodeID-1' },
  };
  const scripts: [Dataset, Record<string, string>, object, Window | null][] = [
    [validators, { node: 'dbt', subnetId: 'an L1' }, { validators: members }, null],
    [
      metricPoints,
      { chainId: '1', metric: 'txCount', timeInterval: 'day' },
      { results: points },
      { from: second(-9) * 1000, to: second(round) * 1000 },
    ],
    [
      proposedBlocks,
      { network: 'dbt', blockchainId: 'p-chain', nodeId: 'NodeID-1' },
      { blocks: [block] },
      null,
    ],
  ];
  for (const [dataset, target, body, window] of scripts) {
    const feed = scriptedFeed(dataset, target, { confirmShrink: { observations: 1, minDuration: 0 } });
    feed.script = () => onlyPage(body, window ? { proven: window } : {});
    const { status } = await run(recordingContext(recording, clock.read), feed, window);
    expect(status, dataset.name).toBe('done');
  }
  await recording.end();
}

/** Creates each model as a view, and runs each test, which returns the failing rows. */
async function build(
  project: string,
  locateTable: (table: string) => string,
  run: (statement: string) => Promise<unknown>,
  rows: (statement: string) => Promise<unknown[]>,
): Promise<string[]> {
  for (const part of ['staging', 'marts'])
    for (const { name, template } of files(`${project}/models/${part}`))
      await run(`create view ${name} as ${renderTemplate(template, locateTable)}`);
  const generic = text(`${project}/tests/generic/one_row_a_version.sql`).replaceAll(/\{%.*?%\}/g, '');
  const failing: string[] = [];
  const check = async (name: string, statement: string) => {
    const found = await rows(`select count(*)::varchar from (${statement}) failing having count(*) > 0`);
    if (found.length > 0) failing.push(name);
  };
  for (const path of ['staging/staging.yml', 'marts/marts.yml'])
    for (const { name, data_tests, columns } of tested.parse(parse(text(`${project}/models/${path}`)))
      .models) {
      for (const { one_row_a_version } of data_tests) {
        const { key } = one_row_a_version.arguments;
        await check(`${name}: key`, generic.replaceAll('{{ key }}', key).replaceAll('{{ model }}', name));
      }
      for (const column of columns) {
        await check(`${name}.${column.name}`, `select 1 from ${name} where ${column.name} is null`);
        if (column.data_tests.includes('unique'))
          await check(
            `${name}.${column.name} twice`,
            `select 1 from ${name} group by ${column.name} having count(*) > 1`,
          );
      }
    }
  for (const { name, template } of files(`${project}/tests`))
    await check(name, renderTemplate(template, locateTable));
  return failing;
}

it('the generated files are current', () => {
  for (const [path, made] of dbtStarters()) expect(text(path), `${path}: npm run docs`).toBe(made);
  for (const project of ['reporting', 'lake']) {
    const made = [...dbtStarters().keys()].filter((path) => path.startsWith(`${project}/models/staging/`));
    expect(readdirSync(join(folder, project, 'models/staging'))).toHaveLength(made.length);
    for (const name of ['dbt_project.yml', 'profiles.yml'])
      expect(parse(text(`${project}/${name}`))).toBeTruthy();
  }
});

describe('the dbt project over PostgreSQL', () => {
  it('names existing relations and columns, and the time of each observation', async () => {
    const [{ tables }] = sources.parse(parse(text('reporting/models/sources.yml'))).sources;
    for (const { name, columns, config } of tables) {
      const named = columns.map((column) => column.name).join(', ') || '*';
      await sql.unsafe(`select ${named} from reporting.${name} limit 0`);
      if (config?.loaded_at_query) expect(await sql.unsafe(config.loaded_at_query)).toHaveLength(1);
    }
  });

  it('builds, and its tests report only that the recorder is off', async () => {
    await sql.unsafe('create schema analytics; set search_path = analytics');
    const run = (statement: string) => sql.unsafe(statement);
    const locateTable = (table: string) => `reporting.${table}`;
    expect(await build('reporting', locateTable, run, run)).toEqual(['every_dataset_is_on_time']);
    const [counted] = await sql<{ days: number; came: number }[]>`
      select (select count(*)::int from chain_metrics_daily) as days,
        (select sum(came)::int from validator_movements_daily) as came`;
    expect(counted?.days).toBeGreaterThan(0);
    expect(counted?.came).toBeGreaterThan(0);
    const [kinds] = await sql`
      select (select count(*) > 0 from stg_node_validators where ended_by = 'gone') as gone,
        (select count(*) > 0 from stg_node_validators where validation_id <> '') as l1,
        (select count(*) > 0 from stg_metric_points where vanished) as vanished,
        (select count(*) > 0 from stg_metric_points where valid_to is not null) as revised,
        (select count(*) > 0 from chain_metrics_daily where length(value::text) > 38) as long`;
    expect(kinds).toEqual({ gone: true, l1: true, vanished: true, revised: true, long: true });
    const marts = files('reporting/models/marts').map(({ name }) => `select * from ${name}`);
    const { UTC, ...others } = await answersByZone(sql, marts);
    for (const zone of ZONES.slice(1)) expect(others[zone], zone).toEqual(UTC);
  });

  it('keeps its incremental models equal to the history after joins, changes, departures, removals and late rows', async () => {
    const locateTable = (table: string) => `reporting.${table}`;
    const run = (statement: string) => sql.unsafe(statement);
    await recordChanges(0);
    const models = await buildIncremental('reporting', locateTable, run, true);
    expect(models).toHaveLength(3);
    await recordChanges(1);
    for (const content of ['of the first build', 'up to date', 'none']) {
      if (content === 'none') {
        for (const name of models) await sql.unsafe(`delete from ${name}`);
        // Its first rows are older than the feed.
        await sql`truncate recorder.changes`;
      }
      await buildIncremental('reporting', locateTable, run, false);
      for (const name of models) {
        const source = /source\('reporting', '(\w+)'\)/.exec(
          text(`reporting/models/incremental/${name}.sql`),
        )?.[1];
        const [compared] = await sql.unsafe(`
          with copy as (select to_jsonb(c) - 'feed_cursor' as row from ${name} c), there as (select to_jsonb(h) as row from reporting.${source} h)
          select (select count(*)::int from (table copy except all table there) a) as more,
            (select count(*)::int from (table there except all table copy) b) as missing, (select count(*) > 0 from copy) as some`);
        expect(compared, `${name} with ${content}`).toEqual({ more: 0, missing: 0, some: true });
      }
    }
    const [kinds] = await sql`
      select (select array_agg(coalesce(ended_by, 'current') order by valid_from) from validators_versions where node_id = 'changes') as changed,
        (select count(*)::int from validators_versions where node_id = 'of round 0' and ended_by = 'gone') as gone,
        (select count(*)::int from metric_points_versions where chain_id = '1' and vanished) as vanished,
        (select count(*)::int from metric_points_versions where chain_id = '1' and ended_by = 'changed') as revised,
        (select count(*)::int from proposed_blocks_versions where network = 'dbt') as blocks`;
    expect(kinds).toEqual({ changed: ['changed', 'current'], gone: 1, vanished: 1, revised: 1, blocks: 2 });
  });
});

describe('the dbt project over Parquet', () => {
  it('builds over an export, and has the versions of PostgreSQL', async () => {
    for (const table of warehouseTables) await writeRows(sql, table, 1, 3);
    await sql`delete from recorder.nft_tokens`;
    const target = new DirectoryTarget(lake);
    const signal = new AbortController().signal;
    const exportLake = (incremental: boolean) =>
      exportTables({
        ...{ databaseUrl: database.url, target, tables: warehouseTables, format: 'parquet', incremental },
        signal,
      });
    for (const incremental of [false, true]) await exportLake(incremental);
    const [source] = sources.parse(parse(text('lake/models/sources.yml'))).sources;
    const { loaded_at_query = '', meta } = source.config ?? {};
    const locateTable = (table: string) =>
      renderTemplate(meta?.external_location ?? '', locateTable).replaceAll('{name}', table);
    expect(await duck.rows(`select (${renderTemplate(loaded_at_query, locateTable)})::varchar`)).toHaveLength(
      1,
    );
    expect(
      await build(
        'lake',
        locateTable,
        (one) => duck.rows(one),
        (one) => duck.rows(one),
      ),
    ).toEqual([]);
    for (const model of [
      'stg_node_validators',
      'stg_metric_points',
      'chain_metrics_daily',
      'validator_movements_daily',
    ]) {
      const count = `select count(*)::varchar as rows from ${model}`;
      const [there] = await sql
        .unsafe<{ rows: string }[]>(`set search_path = analytics; ${count}`)
        .then((all) => all.flat().slice(-1));
      expect(await duck.rows(count), model).toEqual([[there?.rows]]);
    }
    const exact = `select day::varchar, trim_scale(value)::varchar from chain_metrics_daily order by chain_id, metric, day, value`;
    const there = await sql.unsafe(`set search_path = analytics; ${exact}`);
    const rows = there
      .flat()
      .slice(-1 * (there.at(-1)?.length ?? 0))
      .map((row) => Object.values(row));
    for (const zone of ZONES) {
      await duck.run(`set TimeZone = '${zone}'`);
      const here = await duck.rows(
        `select day::varchar, coalesce(value_exact, regexp_replace(value::varchar, '\\.?0*$', '')) from chain_metrics_daily
         order by chain_id, metric, day, coalesce(value_exact::double, value::double)`,
      );
      expect(here, zone).toEqual(rows);
      expect(here.flat(), zone).toContain(MAX_UINT256);
    }
    await duck.run("set TimeZone = 'UTC'");
    expect(await duck.rows('select count(*)::varchar from stg_nft_tokens')).toEqual([['0']]);

    const run = (one: string) => duck.run(one);
    const models = await buildIncremental('lake', locateTable, run, true);
    await recordChanges(2);
    await exportLake(true);
    await target.close();
    for (const content of ['of the first build', 'none']) {
      if (content === 'none') for (const name of models) await run(`delete from ${name}`);
      await buildIncremental('lake', locateTable, run, false);
      for (const name of models) {
        const copy = `select * exclude (exported_at) from ${name}`;
        const there = `select * from stg_${name === 'validators_versions' ? 'node_validators' : name.replace('_versions', '')}`;
        for (const [a, b] of [
          [copy, there],
          [there, copy],
        ])
          expect(
            await duck.rows(`select count(*)::varchar from (${a} except all ${b})`),
            `${name} with ${content}`,
          ).toEqual([['0']]);
      }
    }
  });
});
