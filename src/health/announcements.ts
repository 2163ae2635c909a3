import type postgres from 'postgres';
import { listOccurrences, type MaintenanceWindow, type RecurringMaintenance } from './maintenance.ts';

/** Maintenance windows in the configuration (`health.maintenance`). */
export interface AnnouncedMaintenance {
  readonly once: readonly MaintenanceWindow[];
  readonly recurring: readonly RecurringMaintenance[];
}

/** A maintenance window announced by the command `maintenance`. */
export interface CommandedMaintenance {
  readonly id: number;
  readonly node: string | null;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly reason: string | null;
  readonly announced_at: Date;
}

/**
 * Returns a function that finds the windows of the configuration and of the command `maintenance` that
 * overlap a range.
 */
export function createMaintenanceLookup(sql: postgres.Sql, { once, recurring }: AnnouncedMaintenance) {
  return async (from: number, to: number): Promise<readonly MaintenanceWindow[]> => {
    const commanded = await sql<CommandedMaintenance[]>`
      select node, starts_at, ends_at from recorder.health_maintenance
      where ends_at >= ${new Date(from)} and starts_at <= ${new Date(to)} and ends_at > starts_at`;
    return [
      ...once.filter((window) => window.to >= from && window.from <= to),
      ...recurring.flatMap((one) => listOccurrences(one, from, to)),
      ...commanded.map(({ node, starts_at, ends_at }) => ({
        nodes: node === null ? null : [node],
        from: starts_at.getTime(),
        to: ends_at.getTime(),
      })),
    ];
  };
}

/**
 * Announces maintenance. A start before `now` is moved to `now`, because past time cannot become maintenance.
 * @returns the id of the window
 */
export async function announceMaintenance(
  sql: postgres.Sql,
  window: { node: string | null; from: number; to: number; reason: string | null },
  now: number,
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into recorder.health_maintenance (node, starts_at, ends_at, reason, announced_at)
    values (${window.node}, ${new Date(Math.max(window.from, now))}, ${new Date(window.to)}, ${window.reason}, ${new Date(now)})
    returning id`;
  return row?.id ?? 0;
}

/**
 * Ends an announced maintenance now, or cancels it before its start.
 * @returns false if the window does not exist or has already ended
 */
export async function endMaintenance(sql: postgres.Sql, id: number, now: number): Promise<boolean> {
  const rows = await sql`
    update recorder.health_maintenance set ends_at = greatest(starts_at, ${new Date(now)})
    where id = ${id} and ends_at > ${new Date(now)} and ends_at > starts_at returning 1`;
  return rows.length > 0;
}

/** Returns the windows announced by command that have not ended. */
export function listMaintenance(sql: postgres.Sql, now: number): Promise<CommandedMaintenance[]> {
  return sql<CommandedMaintenance[]>`
    select id, node, starts_at, ends_at, reason, announced_at from recorder.health_maintenance
    where ends_at > ${new Date(now)} and ends_at > starts_at order by starts_at, id`;
}
