import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { letRead } from '../server/pages/revised-point.ts';
import { withDatabase } from '../support/fixture.ts';
import { answersByZone, ZONES } from '../support/zones.ts';

const { it, sql: reader } = withDatabase({ recorded: true, max: 1 });

const folder = fileURLToPath(new URL('../../examples/superset/', import.meta.url));
/** Tables without rows in the recorded database. */
const HAPPENED_NEVER = new Set(['Incidents', 'Values that were replaced, by day of the replacement']);
const version = z.literal('1.0.0');
/** Superset refuses unknown keys of an import, so a file must have no others. */
const filter = z.strictObject({
  clause: z.literal('WHERE'),
  expressionType: z.literal('SIMPLE'),
  subject: z.string(),
  operator: z.enum(['TEMPORAL_RANGE', '==', 'IS NOT NULL']),
  comparator: z.string().nullable(),
});
const columnFile = z.strictObject({
  column_name: z.string(),
  type: z.string(),
  is_dttm: z.boolean(),
  groupby: z.boolean(),
  filterable: z.boolean(),
});
const datasetFile = z.strictObject({
  table_name: z.string(),
  main_dttm_col: z.string().nullable(),
  description: z.string(),
  schema: z.literal('reporting'),
  sql: z.string().nullable(),
  uuid: z.uuid(),
  database_uuid: z.uuid(),
  version,
  columns: z.array(columnFile),
  metrics: z.array(
    z.strictObject({ metric_name: z.string(), expression: z.string(), verbose_name: z.string() }),
  ),
});
const chartFile = z.strictObject({
  slice_name: z.string(),
  description: z.null(),
  viz_type: z.enum(['table', 'echarts_timeseries_line', 'echarts_timeseries_bar']),
  params: z.looseObject({
    viz_type: z.string(),
    all_columns: z.array(z.string()).default([]),
    groupby: z.array(z.string()).default([]),
    metrics: z.array(z.string()).default([]),
    x_axis: z.string().optional(),
    adhoc_filters: z.array(filter),
    order_by_cols: z.array(z.string()).default([]),
  }),
  cache_timeout: z.null(),
  uuid: z.uuid(),
  version,
  dataset_uuid: z.uuid(),
});
const placed = z.object({ chartId: z.number(), sliceName: z.string(), uuid: z.uuid(), width: z.number() });
const dashboardFile = z.strictObject({
  dashboard_title: z.string(),
  description: z.string(),
  css: z.null(),
  slug: z.string(),
  published: z.literal(true),
  uuid: z.uuid(),
  version,
  position: z.record(
    z.string(),
    z.union([
      z.literal('v2'),
      z.object({
        type: z.literal('CHART'),
        children: z.tuple([]),
        parents: z.array(z.string()),
        meta: placed,
      }),
      z.object({
        type: z.enum(['ROOT', 'GRID', 'ROW', 'HEADER']),
        children: z.array(z.string()).default([]),
      }),
    ]),
  ),
  metadata: z.object({
    native_filter_configuration: z.array(
      z.object({
        targets: z.array(z.object({ datasetUuid: z.uuid(), column: z.object({ name: z.string() }) })),
      }),
    ),
  }),
});
const databaseFile = z.object({
  uuid: z.uuid(),
  sqlalchemy_uri: z.string(),
  allow_dml: z.literal(false),
  extra: z.object({ engine_params: z.object({ connect_args: z.object({ options: z.string() }) }) }),
  version,
});

const read = <T>(path: string, schema: z.ZodType<T>): T =>
  schema.parse(parse(readFileSync(join(folder, path), 'utf8')));
const all = <T>(place: string, schema: z.ZodType<T>) =>
  readdirSync(join(folder, place)).map((file) => read(join(place, file), schema));

const connection = read('databases/chain_recorder.yaml', databaseFile);
const datasets = all('datasets/Chain_recorder', datasetFile);
const charts = all('charts', chartFile);
const dashboard = read('dashboards/chain_recorder.yaml', dashboardFile);
const datasetOf = (uuid: string) =>
  datasets.find((one) => one.uuid === uuid) ?? expect.fail(`no dataset ${uuid}`);

describe('the dashboard for Superset', () => {
  beforeAll(async () => {
    await letRead(reader);
    await reader`set role recorder_reader`;
  });

  it('references only existing objects, and has each chart in one place', () => {
    expect(read('metadata.yaml', z.object({ version, type: z.literal('Dashboard') }))).toBeTruthy();
    const uuids = [connection, dashboard, ...datasets, ...charts].map(({ uuid }) => uuid);
    expect(new Set(uuids).size).toBe(uuids.length);
    for (const { database_uuid } of datasets) expect(database_uuid).toBe(connection.uuid);
    const components = Object.values(dashboard.position).flatMap((one) => (one === 'v2' ? [] : [one]));
    const placedCharts = components.flatMap((one) => (one.type === 'CHART' ? [one.meta] : []));
    expect(placedCharts.map(({ uuid, sliceName }) => `${uuid} ${sliceName}`).sort()).toEqual(
      charts.map(({ uuid, slice_name }) => `${uuid} ${slice_name}`).sort(),
    );
    const children = components.flatMap((one) => [...one.children]);
    expect([...children, 'ROOT_ID', 'HEADER_ID', 'DASHBOARD_VERSION_KEY'].sort()).toEqual(
      Object.keys(dashboard.position).sort(),
    );
    for (const one of components) {
      if (one.type !== 'ROW') continue;
      const widths = one.children.map((name) => {
        const child = dashboard.position[name];
        return child !== 'v2' && child?.type === 'CHART' ? child.meta.width : Number.NaN;
      });
      expect(widths.reduce((sum, width) => sum + width, 0)).toBeLessThanOrEqual(12);
    }
  });

  it('groups its charts by days in UTC, whatever the time zone of the server is', async () => {
    expect(connection.extra.engine_params.connect_args.options).toMatch(/-c timezone=UTC\b/);
    const { UTC, ...others } = await answersByZone(
      reader,
      datasets.map((dataset) => `select * from ${sourceOf(dataset)}`),
    );
    expect(UTC?.filter((rows) => rows.length > 0).length).toBeGreaterThan(5);
    for (const zone of ZONES.slice(1)) expect(others[zone], zone).toEqual(UTC);
  });

  it('contains no password, and requires one', () => {
    expect(new URL(connection.sqlalchemy_uri).password).toBe('XXXXXXXXXX');
  });

  it.each(datasets)('has the columns and metrics of $table_name', async (dataset) => {
    const from = sourceOf(dataset);
    const { columns } = await reader.unsafe(`select * from ${from} limit 0`);
    expect(dataset.columns.map(({ column_name }) => column_name)).toEqual(columns.map(({ name }) => name));
    if (dataset.main_dttm_col !== null)
      expect(dataset.columns).toContainEqual(
        expect.objectContaining({ column_name: dataset.main_dttm_col, is_dttm: true }),
      );
    for (const { expression } of dataset.metrics)
      expect(await reader.unsafe(`select ${expression} from ${from}`)).toHaveLength(1);
  });

  it.each(charts)(
    'queries valid columns for "$slice_name"',
    async ({ slice_name, viz_type, params, dataset_uuid }) => {
      const dataset = datasetOf(dataset_uuid);
      expect(params.viz_type).toBe(viz_type);
      const names = new Set(dataset.columns.map(({ column_name }) => column_name));
      const ordered = params.order_by_cols.map((text) =>
        z.tuple([z.string(), z.boolean()]).parse(JSON.parse(text)),
      );
      const filtered = params.adhoc_filters.map(({ subject }) => subject);
      const usedColumns = [
        ...params.all_columns,
        ...params.groupby,
        ...ordered.map(([name]) => name),
        ...filtered,
      ];
      expect(usedColumns.filter((name) => !names.has(name))).toEqual([]);
      const metrics = params.metrics.map(
        (name) =>
          dataset.metrics.find(({ metric_name }) => metric_name === name)?.expression ?? expect.fail(name),
      );
      expect(params.all_columns.length + metrics.length).toBeGreaterThan(0);
      const where = params.adhoc_filters.flatMap(({ operator, subject, comparator }) =>
        operator === '=='
          ? [`${subject} = '${comparator}'`]
          : operator === 'IS NOT NULL'
            ? [`${subject} is not null`]
            : [],
      );
      const rest = where.length > 0 ? ` where ${where.join(' and ')}` : '';
      const keys =
        params.x_axis === undefined ? [] : [`date_trunc('day', ${params.x_axis})`, ...params.groupby];
      const rows = await reader.unsafe(
        keys.length > 0
          ? `select ${[...keys, ...metrics].join(', ')} from ${sourceOf(dataset)}${rest} group by ${keys.map((_, at) => at + 1)} order by 1`
          : `select ${params.all_columns.join(', ')} from ${sourceOf(dataset)}${rest} order by ${ordered.map(([name, up]) => `${name} ${up ? 'asc' : 'desc'}`)}`,
      );
      expect(rows.length > 0).toBe(!HAPPENED_NEVER.has(slice_name));
    },
  );

  it('filters by existing columns', () => {
    const targets = dashboard.metadata.native_filter_configuration.flatMap((one) => one.targets);
    expect(targets.length).toBe(2);
    for (const { datasetUuid, column } of targets)
      expect(datasetOf(datasetUuid).columns.map(({ column_name }) => column_name)).toContain(column.name);
  });
});

const sourceOf = ({ sql, table_name }: z.infer<typeof datasetFile>) =>
  sql === null ? `reporting.${table_name}` : `(${sql}) as queried`;
