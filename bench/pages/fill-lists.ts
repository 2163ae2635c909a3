import type postgres from 'postgres';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset, DatasetColumn } from '../../src/datasets/contract.ts';
import { nodes } from './configuration.ts';
import { withoutIndexes } from './without-indexes.ts';

/** How many things a dataset tells of, and how many versions or readings there are of each, where it is not the usual. */
const SIZES: Readonly<Record<string, readonly [things: number, versions: number]>> = {
  validators: [15_000, 40],
  validator_uptime: [15_000, 60],
  peers: [25_000, 10],
  chain_heights: [30, 30_000],
  p_blocks: [500_000, 1],
  evm_transactions: [500_000, 1],
  native_transactions: [500_000, 1],
  proposed_blocks: [500_000, 1],
};
const USUAL = [2_000, 5] as const;

/** Columns whose values others refer to. */
const KNOWN: Readonly<Record<string, string>> = {
  node: `'validator-' || 1 + thing % ${nodes.length}`,
  network: `'mainnet'`,
  chain_id: `'43114'`,
  subnet_id: `'11111111111111111111111111111111LpoYY'`,
  node_id: `'NodeID-' || thing / ${nodes.length}`,
};

/** Writes rows of all datasets but the metrics: things that look alike, spread over a year in the order of time. */
export async function fillLists(sql: postgres.Sql): Promise<number> {
  let written = 0;
  for (const dataset of catalog) {
    if (dataset.name === 'metric_points') continue;
    const [things, versions] = SIZES[dataset.name] ?? USUAL;
    await withoutIndexes(sql, dataset.name, () => sql.unsafe(rowsOf(dataset, things, versions)));
    written += things * versions;
  }
  return written;
}

function rowsOf(dataset: Dataset, things: number, versions: number): string {
  const { name, columns, history } = dataset;
  // A log has one version of everything: each is a thing of its own.
  const [each, many] = history === 'log' ? [things * versions, 1] : [things, versions];
  const since = `now() - interval '1 year' + (version + thing::float8 / ${each}) * interval '1 year' / ${many}`;
  const until = `case when version < ${many - 1} then ${since} + interval '1 year' / ${many} end`;
  const times = {
    series: { recorded_at: since, superseded_at: until },
    log: { recorded_at: since },
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
    ['run_id', `1 + thing % 500000`],
  ]);
  return `insert into recorder.${name} (${[...values.keys()].join(', ')})
    select ${[...values.values()].join(', ')}
    from generate_series(0, ${many - 1}) v(version), generate_series(0, ${each - 1}) t(thing)
    order by v.version, t.thing`;
}

function sqlOf(column: DatasetColumn, { key, columns, history }: Dataset): string {
  const { name, type, nullable } = column;
  const isKey = key.includes(name);
  const mayMiss = new Set(columns.filter((one) => one.nullable).map((one) => one.name));
  const telling = key.filter((one) => !(one in KNOWN && one !== 'node_id') && !mayMiss.has(one));
  const known = KNOWN[name];
  if (known !== undefined && type === 'text' && (telling.length > 0 || name !== key.at(-1))) return known;
  if (nullable && isKey) return `null::${type}`;
  // Every node tells of the same things. What is no key changes from version to version.
  const thing = key.includes('node') && telling.length > 0 ? `(thing / ${nodes.length})` : 'thing';
  const own = isKey ? thing : `${thing} + version`;
  switch (type) {
    case 'text':
      return isKey ? `md5(${thing}::text)` : `'text ' || (${own}) % 1000`;
    case 'boolean':
      return `(${own}) % 2 = 0`;
    case 'timestamptz':
      return history === 'series' && isKey
        ? `date_trunc('hour', now()) - thing * interval '1 hour'`
        : `now() - interval '1 year' + (${own}) * interval '1 second'`;
    case 'jsonb':
      return `'[]'::jsonb`;
    default:
      return `(${own})::${type}`;
  }
}
