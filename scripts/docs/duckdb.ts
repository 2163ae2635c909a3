import { type ExportTable, warehouseTables } from '../../src/warehouse/export-table.ts';

const HEAD = `-- The files of an export in DuckDB: of each dataset every version, and what was known at a moment. Made by "npm run docs".
--
--   duckdb -init lake.sql
--   select * from validators_versions('/var/lake');
--   select * from metric_points_as_of('s3://my-bucket/recorder', timestamptz '2026-11-01');
--
-- Nothing is read before it is asked for: a dataset without files costs nothing. For S3: "create secret (type s3, …)" first.
-- Of a version that stands in several files the newest row counts; docs/how-to/export.md says what the columns are.
set TimeZone = 'UTC';
`;

/** The starter for DuckDB: two table macros a dataset. */
export const duckdbStarter = (): string => `${HEAD}${warehouseTables.map(macros).join('')}`;

function macros({ name, key, from, to }: ExportTable): string {
  const ended = to === null ? '' : ` and (${to} is null or ${to} > moment)`;
  return `
create or replace macro ${name}_versions(lake) as table
select * exclude (exported_at, day)
from read_parquet(lake || '/${name}/**/*.parquet', hive_partitioning = true, union_by_name = true)
qualify row_number() over (partition by ${[...key, from].join(', ')} order by exported_at desc) = 1;
create or replace macro ${name}_as_of(lake, moment) as table
select * from ${name}_versions(lake) where ${from} <= moment${ended};
`;
}
