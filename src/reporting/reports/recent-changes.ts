import type postgres from 'postgres';

/** A validator that left. */
export interface Departure {
  readonly at: Date;
  readonly subnet_id: string;
  readonly node_id: string;
  /** Stake of the validator in nAVAX, exact; null outside the primary network. */
  readonly stake_navax: string | null;
  /** Weight of the validator in the unit of the subnet, exact. */
  readonly weight: string | null;
  /** True if the validation period had ended; null: the validation has no end, as on an L1. */
  readonly expired: boolean | null;
  /** The configured nodes that report the departure. */
  readonly reported_by: readonly string[];
}

/** A daily value that was revised after the end of its day. */
export interface Revision {
  readonly at: Date;
  readonly chain_id: string;
  readonly metric: string;
  readonly bucket_start: Date;
  readonly before: string;
  readonly after: string;
  /** (after - before) / before. */
  readonly share: number;
}

/** A node that was down. */
export interface Outage {
  readonly node: string;
  /** The start of the last outage. */
  readonly started_at: Date;
  /**
   * The end of the last outage, or its last observation if no observer probes the node any more; null while the
   * node is down.
   */
  readonly ended_at: Date | null;
  /** The observed downtime, in seconds. */
  readonly down_seconds: number;
  readonly error: string | null;
  /** The number of outages that overlap the period. */
  readonly times: number;
}

export interface RecentChanges {
  readonly departures: readonly Departure[];
  readonly revisions: readonly Revision[];
  readonly outages: readonly Outage[];
}

const MAX_SHOWN = 6;
/** Minimum relative change of a value. */
const MIN_RELATIVE_CHANGE = 0.01;

/**
 * Reads the changes of the last week, newest first, a few of each kind. Every query uses an index, so the
 * cost does not grow with the age of the recording.
 */
export async function readRecentChanges(sql: postgres.Sql): Promise<RecentChanges> {
  return {
    departures: await departures(sql),
    revisions: await revisions(sql),
    outages: await outages(sql),
  };
}

async function departures(sql: postgres.Sql): Promise<Departure[]> {
  return sql<Departure[]>`
    with newest as (
      select at, subnet_id, node_id, start_time, node, before ->> 'stake_navax' as stake_navax, before ->> 'weight' as weight,
        (before ->> 'end_time')::timestamptz <= at as expired
      from reporting.node_validators_changes
      where change = 'left' and at > now() - interval '7 days'
      order by at desc limit 200
    )
    select min(at) as at, subnet_id, node_id, max(stake_navax::numeric)::text as stake_navax, max(weight::numeric)::text as weight, bool_or(expired) as expired,
      array_agg(distinct node order by node) as reported_by
    from newest
    group by subnet_id, node_id, start_time
    order by min(at) desc, node_id
    limit ${MAX_SHOWN}`;
}

/**
 * Returns the values of complete days of the last month that were revised later. Reads the replaced values,
 * which are few.
 */
async function revisions(sql: postgres.Sql): Promise<Revision[]> {
  return sql<Revision[]>`
    select n.valid_from as at, o.chain_id, o.metric, o.bucket_start, o.value::text as before, n.value::text as after,
      ((n.value - o.value) / o.value)::float8 as share
    from reporting_internal.metric_points_replaced o
    cross join lateral (
      select r.valid_from, r.value from reporting.metric_points_history r
      where r.series_id = o.series_id and r.bucket_start = o.bucket_start and r.valid_from >= o.valid_to
      order by r.valid_from limit 1) n
    where o.valid_to > now() - interval '31 days' and n.valid_from > now() - interval '7 days' and o.time_interval = 'day'
      and o.valid_from >= o.bucket_start + interval '1 day' and o.bucket_start > now() - interval '31 days'
      and o.value <> 0 and abs(n.value - o.value) > ${MIN_RELATIVE_CHANGE} * abs(o.value)
    order by n.valid_from desc, o.chain_id, o.metric, o.bucket_start
    limit ${MAX_SHOWN}`;
}

async function outages(sql: postgres.Sql): Promise<Outage[]> {
  const rows = await sql<Outage[]>`
    select distinct on (o.node) o.node, o.started_at, case when o.seen_until > now() - interval '5 minutes' then o.ended_at else o.seen_until end as ended_at,
      o.down_seconds::float8, o.last_error as error,
      (count(*) over (partition by o.node, o.observer))::int as times
    from reporting_internal.node_outages_in(now() - interval '7 days', 'infinity') o
    where o.probe = 'health' and o.seen_until > now() - interval '7 days'
    order by o.node, o.started_at desc`;
  // Outages that continue come first.
  const hasEnded = ({ ended_at }: Outage) => Number(ended_at !== null);
  return rows
    .sort((a, b) => hasEnded(a) - hasEnded(b) || b.started_at.getTime() - a.started_at.getTime())
    .slice(0, MAX_SHOWN);
}
