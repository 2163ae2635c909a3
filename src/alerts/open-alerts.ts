import type postgres from 'postgres';
import type { Alert } from './state.ts';

interface Row {
  readonly id: string;
  readonly rule: string;
  readonly subject: string;
  readonly severity: Alert['severity'];
  readonly state: Alert['state'];
  readonly summary: string;
  readonly details: unknown;
  readonly since: Date | null;
  readonly began_at: Date;
  readonly fired_at: Date | null;
  readonly resolved_at: Date | null;
  readonly flapping: boolean;
  readonly acknowledged_at: Date | null;
  readonly reported_ms: string;
  readonly absent_ms: string;
  readonly since_notice_ms: string;
}

/** Returns the unresolved alerts of a recorder. */
export async function openAlerts(sql: postgres.Sql, recorder: string): Promise<Alert[]> {
  const rows = await sql<Row[]>`
    select id, rule, subject, severity, state, summary, details, since, began_at, fired_at, resolved_at, flapping,
      acknowledged_at, reported_ms, absent_ms, since_notice_ms
    from recorder.alerts where recorder = ${recorder} and state <> 'resolved' order by id`;
  return rows.map((row) => ({
    id: Number(row.id),
    rule: row.rule,
    subject: row.subject,
    severity: row.severity,
    state: row.state,
    summary: row.summary,
    details: row.details,
    since: row.since,
    beganAt: row.began_at,
    firedAt: row.fired_at,
    resolvedAt: row.resolved_at,
    flapping: row.flapping,
    acknowledged: row.acknowledged_at !== null,
    reportedMs: Number(row.reported_ms),
    absentMs: Number(row.absent_ms),
    sinceNoticeMs: Number(row.since_notice_ms),
  }));
}
