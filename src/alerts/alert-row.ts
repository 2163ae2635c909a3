import type postgres from 'postgres';

/** Alert as a row of `reporting.alerts`. */
export interface AlertRow {
  readonly id: string;
  readonly state: string;
  readonly severity: string;
  readonly rule: string;
  readonly subject: string;
  readonly summary: string;
  readonly since: Date | null;
  readonly began_at: Date;
  readonly fired_at: Date | null;
  readonly resolved_at: Date | null;
  readonly flapping: boolean;
  readonly acknowledged_by: string | null;
  readonly note: string | null;
  readonly details: unknown;
}

/** Filter of a list of alerts. Times are in ms since 1970. Null means no bound, or every rule. */
export interface AlertFilter {
  readonly from: number;
  readonly to: number | null;
  readonly rule: string | null;
}

/** SQL: the columns of an {@link AlertRow}. */
const alertColumns = (sql: postgres.Sql) => sql`
  id::text, state, severity, rule, subject, summary, since, began_at, fired_at, resolved_at, flapping,
  case when acknowledged_at is not null then coalesce(acknowledged_by, 'somebody') end as acknowledged_by, note, details`;

/**
 * Returns the open alerts of a recorder, and the alerts that were resolved in a time range. Open alerts come
 * first, then the latest alerts.
 */
export async function listAlertRows(
  sql: postgres.Sql,
  recorder: string,
  { from, to, rule }: AlertFilter,
): Promise<AlertRow[]> {
  const rows = await sql<AlertRow[]>`
    select ${alertColumns(sql)} from reporting.alerts
    where recorder = ${recorder} and (state <> 'resolved' or resolved_at >= ${new Date(from)})
      and (${to === null ? null : new Date(to)}::timestamptz is null or began_at < ${to === null ? null : new Date(to)})
      and rule = coalesce(${rule}, rule)
    order by state = 'resolved', coalesce(resolved_at, fired_at, began_at) desc, id desc`;
  return [...rows];
}

/**
 * Returns the open alerts of all recorders, firing alerts before pending alerts.
 * @param rule name of a rule; null for every rule
 * @param most maximum number of alerts
 */
export async function listOpenAlertRows(
  sql: postgres.Sql,
  rule: string | null,
  most: number,
): Promise<AlertRow[]> {
  const rows = await sql<AlertRow[]>`
    select ${alertColumns(sql)} from reporting.alerts a where a.state <> 'resolved' and rule = coalesce(${rule}, rule)
    order by a.state = 'pending', coalesce(a.fired_at, a.began_at) desc, a.id desc limit ${most}`;
  return [...rows];
}

const PAGE_SIZE = 50;

/**
 * Returns a page of resolved alerts, the newest first. `next` is the cursor of the next page; null on the
 * last page.
 */
export async function listResolvedAlerts(
  sql: postgres.Sql,
  { rule, before }: { readonly rule?: string | undefined; readonly before?: string | undefined },
): Promise<{ readonly found: readonly AlertRow[]; readonly next: string | null }> {
  const found = await sql<AlertRow[]>`
    select ${alertColumns(sql)} from reporting.alerts a
    where a.state = 'resolved' and a.id < coalesce(${before ?? null}::bigint, 9223372036854775807)
      and rule = coalesce(${rule ?? null}, rule)
    order by a.id desc limit ${PAGE_SIZE}`;
  return { found: [...found], next: found.length === PAGE_SIZE ? (found.at(-1)?.id ?? null) : null };
}
