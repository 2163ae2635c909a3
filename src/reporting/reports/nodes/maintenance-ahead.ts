import type postgres from 'postgres';
import type { AnnouncedMaintenance } from '../../../health/announcements.ts';
import { listOccurrences } from '../../../health/maintenance.ts';

/** Current or future maintenance. */
export interface MaintenanceAhead {
  /** Null: all nodes. */
  readonly nodes: readonly string[] | null;
  readonly from: Date;
  readonly to: Date;
  /** Null: no reason given. */
  readonly reason: string | null;
}

/** Time range for which occurrences of recurring windows are listed, in ms. */
const LOOKAHEAD_MS = 14 * 86_400_000;
const MAX_WINDOWS = 20;

/**
 * Returns the maintenance announced in the configuration and by command, earliest first.
 * @param now in ms since 1970
 */
export async function maintenanceAhead(
  sql: postgres.Sql,
  { once, recurring }: AnnouncedMaintenance,
  now: number,
): Promise<MaintenanceAhead[]> {
  const commanded = await sql<
    { node: string | null; starts_at: Date; ends_at: Date; reason: string | null }[]
  >`
    select node, starts_at, ends_at, reason from reporting_internal.node_maintenance
    where ends_at > ${new Date(now)} order by starts_at limit ${MAX_WINDOWS}`;
  const configured = [...once, ...recurring.flatMap((one) => listOccurrences(one, now, now + LOOKAHEAD_MS))]
    .filter(({ to }) => to > now)
    .map(({ nodes, from, to }) => ({ nodes, from: new Date(from), to: new Date(to), reason: null }));
  return [
    ...configured,
    ...commanded.map(({ node, starts_at, ends_at, reason }) => ({
      nodes: node === null ? null : [node],
      from: starts_at,
      to: ends_at,
      reason,
    })),
  ]
    .sort((one, other) => one.from.getTime() - other.from.getTime())
    .slice(0, MAX_WINDOWS);
}
