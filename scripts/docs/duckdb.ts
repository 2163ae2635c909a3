import { versionIdSql } from '../../src/datasets/version-id.ts';
import { type ExportTable, warehouseTables } from '../../src/warehouse/export-table.ts';

const HEAD = `-- The files of an export in DuckDB: of each dataset every version, and what was known at a moment. Made by "npm run docs".
--
--   duckdb -init lake.sql
--   select * from node_validators_versions('/var/lake');
--   select * from metric_points_as_of('s3://my-bucket/recorder', timestamptz '2026-11-01');
--
-- Only a query of a dataset reads its files: the macros of a dataset without files cause no error. For S3: "create secret (type s3, …)" first.
-- If several files contain a version, the newest row is valid. docs/how-to/export.md describes the columns.
set TimeZone = 'UTC';
`;

/** The starter for DuckDB: two table macros a dataset. */
export const duckdbStarter = (): string => `${HEAD}${warehouseTables.map(macros).join('')}`;

/** SQL of texts in DuckDB, the same as in PostgreSQL. */
const TEXTS: Readonly<Record<string, (value: string) => string>> = {
  text: (value) => `length(${value}) || ':' || ${value}`,
  timestamptz: (value) => `epoch_us(${value}) || ','`,
  numeric: (value) => `${value} || ','`,
  bigint: (value) => `${value} || ','`,
};

/** Returns SQL of `version_id` over the files of a table, for DuckDB. */
export const lakeVersionId = (table: ExportTable): string =>
  versionIdSql(table, table.from, (column) => column, TEXTS);

function macros(table: ExportTable): string {
  const { name, relation, key, from, to } = table;
  const ended = to === null ? '' : ` and (${to} is null or ${to} > moment)`;
  return `
create or replace macro ${relation}_versions(lake) as table
select ${lakeVersionId(table)} as version_id, * exclude (exported_at, day)
from read_parquet(lake || '/${name}/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by ${[...key, from].join(', ')} order by exported_at desc) = 1;
create or replace macro ${relation}_as_of(lake, moment) as table
select * from ${relation}_versions(lake) where ${from} <= moment${ended};
`;
}
