import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import type { ExportConfig } from '../config/exports-schema.ts';
import { ormOf } from '../db/orm.ts';
import { scheduledExports } from '../db/schema/export-tables.ts';
import type { Registrant } from '../recording/configuration.ts';
import { entitledSql } from '../recording/register.ts';

/** Retry interval after a failed export, in ms. A shorter interval of the export takes precedence. */
const RETRY_INTERVAL_MS = 300_000;

/**
 * Stores the exports in a recorder's configuration, and deletes exports that are no longer configured. Writes
 * nothing unless the configuration is the newest.
 */
export async function registerExports(
  sql: postgres.Sql,
  exportConfigs: readonly ExportConfig[],
  by: Registrant,
): Promise<void> {
  const rows = exportConfigs.map(({ to, datasets, format, every }) => ({ to, datasets, format, every }));
  await ormOf(sql).execute(expression`
    with entitled as materialized (${entitledSql(by)}), configured as materialized (
      select w.* from entitled, jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as w("to" text, datasets text[], format text, every bigint)
    ), deleted as (
      delete from ${scheduledExports} e using entitled
      where e.recorder = ${by.recorder} and e.destination not in (select w."to" from configured w)
    )
    insert into ${scheduledExports} (recorder, destination, datasets, format, every_ms, requested_since)
    select ${by.recorder}, "to", datasets, format, every, now() from configured
    on conflict (recorder, destination) do update
      set datasets = excluded.datasets, format = excluded.format, every_ms = excluded.every_ms`);
}

/**
 * Returns the targets of due exports, longest waiting first. An export that started and neither succeeded nor
 * failed is running, or its process was killed. Such an export is due. A clock that was ahead does not delay
 * exports.
 */
export async function dueExports(sql: postgres.Sql, recorder: string): Promise<string[]> {
  const rows = await sql<{ destination: string }[]>`
    select destination from recorder.exports
    where recorder = ${recorder} and case
      when failing_since is not null
        then now() not between last_failure_at and last_failure_at + make_interval(secs => least(every_ms, ${RETRY_INTERVAL_MS}) / 1000.0)
      when began_at <= last_success_at then now() not between began_at and began_at + make_interval(secs => every_ms / 1000.0)
      else true end
    order by began_at nulls first, destination`;
  return rows.map(({ destination }) => destination);
}

/** Result of a scheduled export. */
export interface ExportNote {
  /** Number of the export in the manifest. */
  readonly export: number;
  /** ISO 8601. */
  readonly exportedAt: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Stores the start of an export.
 * @returns false if the export is no longer due
 */
export async function storeExportStart(
  sql: postgres.Sql,
  recorder: string,
  destination: string,
): Promise<boolean> {
  if (!(await dueExports(sql, recorder)).includes(destination)) return false;
  await sql`update recorder.exports set began_at = now() where (recorder, destination) = (${recorder}, ${destination})`;
  return true;
}

/** Stores the result of an export. */
export async function storeExportSuccess(
  sql: postgres.Sql,
  recorder: string,
  destination: string,
  result: ExportNote,
): Promise<void> {
  await sql`
    update recorder.exports set last_success_at = now(), exported_at = ${result.exportedAt}::text::timestamptz, export = ${result.export},
      rows = ${result.rows}, bytes = ${result.bytes}, failing_since = null, failures = 0, error = null
    where (recorder, destination) = (${recorder}, ${destination})`;
}

/** Stores the reason of a failed export. */
export async function storeExportFailure(
  sql: postgres.Sql,
  recorder: string,
  destination: string,
  error: string,
): Promise<void> {
  await sql`
    update recorder.exports set last_failure_at = now(), failing_since = coalesce(failing_since, now()), failures = failures + 1,
      error = ${error}
    where (recorder, destination) = (${recorder}, ${destination})`;
}
