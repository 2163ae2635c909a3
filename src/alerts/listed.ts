import type postgres from 'postgres';

/** An alert as `reporting.alerts` shows it. */
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

/** Which alerts are listed. Times in ms since 1970; null: no bound, or every rule. */
export interface AlertFilter {
  readonly from: number;
  readonly to: number | null;
  readonly rule: string | null;
}

/** The alerts of a recorder that are open, and those that ended in a span: open ones first, then the latest. */
export async function alertRows(
  sql: postgres.Sql,
  recorder: string,
  { from, to, rule }: AlertFilter,
): Promise<AlertRow[]> {
  const rows = await sql<AlertRow[]>`
    select id::text, state, severity, rule, subject, summary, since, began_at, fired_at, resolved_at, flapping,
      case when acknowledged_at is not null then coalesce(acknowledged_by, 'somebody') end as acknowledged_by, note, details
    from reporting.alerts
    where recorder = ${recorder} and (state <> 'resolved' or resolved_at >= ${new Date(from)})
      and (${to === null ? null : new Date(to)}::timestamptz is null or began_at < ${to === null ? null : new Date(to)})
      and rule = coalesce(${rule}, rule)
    order by state = 'resolved', coalesce(resolved_at, fired_at, began_at) desc, id desc`;
  return [...rows];
}
