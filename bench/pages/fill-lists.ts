import type postgres from 'postgres';
import { z } from 'zod';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset, DatasetColumn } from '../../src/datasets/contract.ts';
import { openSealConnection } from '../../src/db/client.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import { nodes } from './configuration.ts';
import { withoutIndexes } from './without-indexes.ts';

/** Number of objects of a dataset, and of versions or readings of each, if it is not the default. */
const SIZES: Readonly<Record<string, readonly [objects: number, versions: number]>> = {
  validators: [15_000, 40],
  validator_uptime: [15_000, 60],
  peers: [25_000, 10],
  chain_heights: [30, 30_000],
  p_blocks: [500_000, 1],
  evm_transactions: [500_000, 1],
  native_transactions: [500_000, 1],
  proposed_blocks: [500_000, 1],
};
const DEFAULT_SIZE = [2_000, 5] as const;

/** Columns that others refer to. */
const KNOWN_COLUMNS: Readonly<Record<string, string>> = {
  node: `'validator-' || 1 + thing % ${nodes.length}`,
  network: `'mainnet'`,
  chain_id: `'43114'`,
  subnet_id: `'11111111111111111111111111111111LpoYY'`,
  node_id: `'NodeID-' || thing / ${nodes.length}`,
};

/** Maximum duration of packing a day of readings, ms. */
const PACK_TIMEOUT_MS = 600_000;

/** Writes rows of all datasets except the metrics: similar objects, spread over a year in the order of time. */
export async function fillLists(sql: postgres.Sql): Promise<number> {
  let written = 0;
  for (const dataset of catalog) {
    if (dataset.name === 'metric_points') continue;
    const [objects, versions] = SIZES[dataset.name] ?? DEFAULT_SIZE;
    await withoutIndexes(sql, dataset.name, () => sql.unsafe(rowsOf(dataset, objects, versions)));
    written += objects * versions;
  }
  return written;
}

function rowsOf(dataset: Dataset, objects: number, versions: number): string {
  const { name, columns, history } = dataset;
  // A log has one version of each entry: each is a separate object.
  const [each, many] = history === 'log' ? [objects * versions, 1] : [objects, versions];
  // One poll reads all objects of a node.
  const isRead = history === 'sample';
  const since = isRead
    ? `now() - interval '1 year' + version * interval '1 year' / ${many}`
    : `now() - interval '1 year' + (version + thing::float8 / ${each}) * interval '1 year' / ${many}`;
  const until = `case when version < ${many - 1} then ${since} + interval '1 year' / ${many} end`;
  const times = {
    series: { valid_from: since, valid_to: until },
    log: { valid_from: since },
    sample: { observed_at: since },
    state: {
      valid_from: since,
      valid_to: `coalesce(${until}, case when thing % 50 = 0 then ${since} + interval '1 hour' end)`,
      ended_by: `case when version < ${many - 1} then 'changed' when thing % 50 = 0 then 'gone' end`,
    },
  }[history];
  const values = new Map<string, string>([
    ...columns.map((column): [string, string] => [column.name, sqlOf(column, dataset)]),
    ...Object.entries(times),
    ['run_id', isRead ? `1 + version * ${nodes.length} + thing % ${nodes.length}` : `1 + thing % 500000`],
  ]);
  return `insert into recorder.${name} (${[...values.keys()].join(', ')})
    select ${[...values.values()].join(', ')}
    from generate_series(0, ${many - 1}) v(version), generate_series(0, ${each - 1}) t(thing)
    order by v.version, t.thing`;
}

function sqlOf(column: DatasetColumn, { key, columns, history, seldom = [] }: Dataset): string {
  const { name, type, nullable } = column;
  const isKey = key.includes(name);
  const mayMiss = new Set(columns.filter((one) => one.nullable).map((one) => one.name));
  const distinguishing = key.filter(
    (one) => !(one in KNOWN_COLUMNS && one !== 'node_id') && !mayMiss.has(one),
  );
  const known = KNOWN_COLUMNS[name];
  if (known !== undefined && type === 'text' && (distinguishing.length > 0 || name !== key.at(-1)))
    return known;
  if (nullable && isKey) return `null::${type}`;
  // Every node reports the same objects. Columns outside the key change from version to version.
  const thing = key.includes('node') && distinguishing.length > 0 ? `(thing / ${nodes.length})` : 'thing';
  const value = isKey ? thing : `${thing} + version`;
  switch (type) {
    case 'text':
      // Texts of repeated readings rarely change.
      if (history === 'sample' && !isKey) return `'text ' || thing % 1000`;
      return isKey ? `md5(${thing}::text)` : `'text ' || (${value}) % 1000`;
    case 'boolean':
      return `(${value}) % 2 = 0`;
    case 'timestamptz':
      return history === 'series' && isKey
        ? `date_trunc('hour', now()) - thing * interval '1 hour'`
        : `now() - interval '1 year' + (${value}) * interval '1 second'`;
    case 'jsonb':
      return column.element && !seldom.includes(name)
        ? `jsonb_build_array(${elementOf(column.element, value)})`
        : `'[]'::jsonb`;
    default:
      return `(${value})::${type}`;
  }
}

/** Packs the readings of past days, as a recorder does by itself. @returns the number of packed ones */
export async function packReadings(url: string): Promise<number> {
  const sql = openSealConnection(url, PACK_TIMEOUT_MS);
  try {
    const { packed, failed } = await closeDays(sql, Date.now(), new AbortController().signal);
    const [first] = failed;
    if (first) throw new Error(`${failed.length} days could not be packed: ${JSON.stringify(first)}`);
    return packed;
  } finally {
    await sql.end();
  }
}

/** SQL: an element of a list: an object with its fields, or a text. */
function elementOf(element: z.ZodType, value: string): string {
  const text = `md5((${value})::text)`;
  if (!(element instanceof z.ZodObject)) return text;
  return `jsonb_build_object(${Object.keys(element.shape)
    .map((field) => `'${field}', ${text}`)
    .join(', ')})`;
}
