import type postgres from 'postgres';

/** A downtime of a node: a row of `reporting.node_incidents`. */
export interface Incident {
  readonly node: string;
  readonly probe: string;
  readonly started_at: Date;
  /** Null: the incident is open. */
  readonly ended_at: Date | null;
  readonly down_seconds: string;
  /** Seconds in which no observer could determine the state of the node. */
  readonly unknown_seconds: string;
  readonly outages: string;
  readonly first_error: string | null;
  readonly last_error: string | null;
  readonly noticed_by: readonly string[];
  readonly failed_checks: readonly string[] | null;
  /** Start of the failure according to the node itself. */
  readonly failing_since: Date | null;
}

/** An event that was recorded around an incident. */
export interface Moment {
  readonly at: Date;
  readonly what: string;
  /** The origin: an observer, an alert, a person. */
  readonly source: string;
}

/** A time range: inclusive start, exclusive end. */
export interface IncidentWindow {
  readonly from: Date;
  readonly to: Date;
}

const MAX_MOMENTS = 1_000;

const COLUMNS = [
  'node',
  'probe',
  'started_at',
  'ended_at',
  'down_seconds',
  'unknown_seconds',
  'outages',
  'first_error',
  'last_error',
  'noticed_by',
  'failed_checks',
  'failing_since',
] as const;

/**
 * Returns the newest incidents, newest first.
 * @param node null: all nodes
 * @param most maximum number
 */
export function newestIncidents(sql: postgres.Sql, node: string | null, most: number): Promise<Incident[]> {
  return sql<Incident[]>`
    select ${sql([...COLUMNS])} from reporting.node_incidents
    where ${node}::text is null or node = ${node} order by started_at desc, node, probe limit ${most}`;
}

/** Returns the incidents of a node that overlap a window, in the order of time. */
export function incidentsBetween(
  sql: postgres.Sql,
  node: string,
  { from, to }: IncidentWindow,
): Promise<Incident[]> {
  return sql<Incident[]>`
    select ${sql([...COLUMNS])} from reporting.node_incidents
    where node = ${node} and started_at < ${to} and (ended_at is null or ended_at > ${from}) order by started_at, probe`;
}

/**
 * Reads the events of a node in a window, in the order of time: the states of the node and its checks per
 * observer, absences of observers, maintenance, changes of the node's identity, alerts and acknowledgements,
 * lost recordings, and notes.
 * @returns the events, and the number of omitted events
 */
export async function readMoments(
  sql: postgres.Sql,
  node: string,
  { from, to }: IncidentWindow,
): Promise<{ moments: Moment[]; more: number }> {
  const during = (column: string) => sql`${sql(column)} >= ${from} and ${sql(column)} < ${to}`;
  const rows = await sql<(Moment & { all: number })[]>`
    with alerts as (
      select * from reporting.alerts where subject = ${node} or starts_with(subject, ${`${node} `})
    ), identity as (
      select c.at, changed.key, changed.before, changed.after
      from reporting.node_identity_changes c cross join lateral (
        select coalesce(o.key, n.key) as key, o.value as before, n.value as after
        from jsonb_each_text(coalesce(c.before, '{}')) o full join jsonb_each_text(coalesce(c.after, '{}')) n on o.key = n.key
      ) changed
      where c.node = ${node} and ${during('at')} and changed.before is distinct from changed.after
    ), moments as (
      select started_at as at, 1 as place, concat(probe, case when check_name <> '*' then ', check ' || check_name end, ': ', state,
        case when state <> 'up' then ': ' || error end) as what, 'observer ' || observer as source
      from reporting.node_health_history where node = ${node} and ${during('started_at')}
      union all
      select started_at, 2, concat('did not probe until ', to_char(ended_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), ': ', reason),
        'observer ' || observer
      from reporting_internal.node_absences where started_at < ${to} and ended_at > ${from}
      union all
      select starts_at, 3, concat('maintenance until ', to_char(ends_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), ': ' || reason), 'announced'
      from reporting_internal.node_maintenance where (node is null or node = ${node}) and starts_at < ${to} and ends_at > ${from}
      union all
      select at, 4, concat(key, ': ', coalesce(before, 'nothing'), ' → ', coalesce(after, 'nothing')), 'the node''s identity' from identity
      union all
      select began_at, 5, concat('condition started: ', summary), 'alert ' || rule from alerts where ${during('began_at')}
      union all
      select fired_at, 6, concat('alerted: ', summary), 'alert ' || rule from alerts where ${during('fired_at')}
      union all
      select acknowledged_at, 7, concat('acknowledged', ' by ' || acknowledged_by, ': ' || note), 'alert ' || rule
      from alerts where ${during('acknowledged_at')}
      union all
      select resolved_at, 8, 'resolved', 'alert ' || rule from alerts where ${during('resolved_at')}
      union all
      select range_start, 9, concat(dataset, ' could not be recorded until ', to_char(range_end at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), ': ', reason), 'losses'
      from reporting_internal.permanent_gaps
      where (target = ${`node=${node}`} or starts_with(target, ${`node=${node} `})) and range_start < ${to} and range_end > ${from}
      union all
      select at, 10, note, author from reporting.incident_notes where node = ${node} and ${during('at')}
    )
    select at, what, source, count(*) over ()::int as all from moments order by at, place, source, what limit ${MAX_MOMENTS}`;
  const moments = rows.map(({ at, what, source }) => ({ at, what, source }));
  return { moments, more: (rows[0]?.all ?? 0) - moments.length };
}
