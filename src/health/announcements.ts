import type postgres from 'postgres';
import { type MaintenanceWindow, occurrences, type RecurringMaintenance } from './maintenance.ts';

/** Maintenance that the configuration announces (`health.maintenance`). */
export interface Announced {
  readonly once: readonly MaintenanceWindow[];
  readonly recurring: readonly RecurringMaintenance[];
}

/** A window announced by command. */
export interface CommandedMaintenance {
  readonly id: number;
  readonly node: string | null;
  readonly starts_at: Date;
  readonly ends_at: Date;
  readonly reason: string | null;
  readonly announced_at: Date;
}

/** Finds the windows of the configuration and of the command `maintenance` that touch [from, to], in ms. */
export function announcements(sql: postgres.Sql, { once, recurring }: Announced) {
  return async (from: number, to: number): Promise<readonly MaintenanceWindow[]> => {
    const commanded = await sql<CommandedMaintenance[]>`
      select node, starts_at, ends_at from recorder.health_maintenance
      where ends_at >= ${new Date(from)} and starts_at <= ${new Date(to)} and ends_at > starts_at`;
    return [
      ...once.filter((window) => window.to >= from && window.from <= to),
      ...recurring.flatMap((one) => occurrences(one, from, to)),
      ...commanded.map(({ node, starts_at, ends_at }) => ({
        nodes: node === null ? null : [node],
        from: starts_at.getTime(),
        to: ends_at.getTime(),
      })),
    ];
  };
}

/** Announces maintenance. Past time cannot become maintenance: `from` must not be before `now`. */
export async function announce(
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

/** Ends an announced maintenance now, or takes it back before it began. @returns false where there is none to end */
export async function endMaintenance(sql: postgres.Sql, id: number, now: number): Promise<boolean> {
  const rows = await sql`
    update recorder.health_maintenance set ends_at = greatest(starts_at, ${new Date(now)})
    where id = ${id} and ends_at > ${new Date(now)} and ends_at > starts_at returning 1`;
  return rows.length > 0;
}

/** The maintenance announced by command that has not ended. */
export function listMaintenance(sql: postgres.Sql, now: number): Promise<CommandedMaintenance[]> {
  return sql<CommandedMaintenance[]>`
    select id, node, starts_at, ends_at, reason, announced_at from recorder.health_maintenance
    where ends_at > ${new Date(now)} and ends_at > starts_at order by starts_at, id`;
}
