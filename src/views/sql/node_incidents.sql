create or replace view reporting.node_incidents as
with intervals as (
  select h.observer, h.node, h.probe, h.state, h.started_at, h.ended_at, lasts.until, h.error,
    -- How an open interval is worded at the last is kept with its probe; with itself once it ended.
    coalesce(h.last_error, case when h.ended_at is null then p.latest -> h.check_name end ->> 'error', h.error) as last_error,
    lag(h.state) over whole as state_before,
    count(*) filter (where h.state = 'up' and lasts.until - h.started_at >= interval '5 minutes') over whole as recoveries
  from recorder.node_health h
  join reporting.node_probes p using (observer, node, probe)
  cross join lateral (select coalesce(h.ended_at, greatest(p.settled_until, h.started_at)) as until) lasts
  where h.check_name = '*'
  window whole as (partition by h.observer, h.node, h.probe order by h.started_at)
),
-- What one observer saw down between two recoveries.
observed_outages as (
  select observer, node, probe, min(started_at) as started_at, max(until) as ended_at,
    bool_or(ended_at is null) as is_open, extract(epoch from sum(until - started_at)) as down_seconds,
    count(*) filter (where state_before <> 'down' or state_before is null) as outages,
    (array_agg(error order by started_at))[1] as first_error,
    (array_agg(last_error order by started_at desc))[1] as last_error
  from intervals
  where state = 'down'
  group by observer, node, probe, recoveries
),
-- Whether it begins after everything that any observer saw before it was over.
compared_outages as (
  select *,
    started_at > coalesce(max(case when is_open then 'infinity' else ended_at end) over (
      partition by node, probe order by started_at, observer rows between unbounded preceding and 1 preceding),
      '-infinity') as is_apart
  from observed_outages
),
numbered_outages as (
  select *, count(*) filter (where is_apart) over (partition by node, probe order by started_at, observer) as incident
  from compared_outages
),
incidents as (
  select node, probe, min(started_at) as started_at,
    case when not bool_or(is_open) then max(ended_at) end as ended_at, bool_or(is_open) as is_open,
    max(ended_at) as seen_until, max(down_seconds) as down_seconds, max(outages) as outages,
    (array_agg(first_error order by started_at))[1] as first_error,
    (array_agg(last_error order by ended_at desc))[1] as last_error,
    array_agg(distinct observer order by observer) as noticed_by,
    (array_agg(observer order by started_at))[1] as first_noticed_by
  from numbered_outages
  group by node, probe, incident
)
select i.node, i.probe, i.started_at, i.ended_at, i.is_open,
  extract(epoch from coalesce(i.ended_at, i.seen_until) - i.started_at) as duration_seconds,
  i.down_seconds, i.outages, i.first_error, i.last_error, i.noticed_by, i.first_noticed_by,
  (
    select coalesce(array_agg(distinct h.check_name order by h.check_name), '{}')
    from recorder.node_health h
    where (h.node, h.probe) = (i.node, i.probe) and h.observer = any(i.noticed_by) and h.check_name <> '*'
      and h.state = 'down' and h.started_at < coalesce(i.ended_at, 'infinity')
      and coalesce(h.ended_at, 'infinity') > i.started_at) as failed_checks,
  account.failing_since, account.checks
from incidents i
cross join lateral (
  with failed_checks as (
    select h.check_name, (array_agg(h.error order by h.started_at))[1] as first_error,
      (array_agg(coalesce(h.last_error, newest.words ->> 'error', h.error) order by h.started_at desc))[1] as last_error,
      min(h.failing_since) as failing_since,
      max(coalesce(h.failures, (newest.words ->> 'failures')::bigint)) as failures
    from recorder.node_health h
    join recorder.health_probes p using (observer, node, probe)
    cross join lateral (select case when h.ended_at is null then p.latest -> h.check_name end as words) newest
    where (h.node, h.probe) = (i.node, i.probe) and h.observer = any(i.noticed_by) and h.check_name <> '*'
      and h.state = 'down' and h.started_at < coalesce(i.ended_at, 'infinity')
      and coalesce(h.ended_at, 'infinity') > i.started_at
    group by h.check_name
  )
  select min(failing_since) as failing_since,
    coalesce(jsonb_object_agg(check_name, jsonb_build_object('first_error', first_error, 'last_error', last_error,
      'failing_since', failing_since, 'failures', failures)), '{}') as checks
  from failed_checks) account;

comment on view reporting.node_incidents is 'When nodes were down, by all observers together. Being up for less than 5 minutes does not end an incident.';
comment on column reporting.node_incidents.node is 'The configured node.'; -- text
comment on column reporting.node_incidents.probe is 'The probe; with :TAG, of a part of the node only.'; -- text
comment on column reporting.node_incidents.started_at is 'The first failure.'; -- timestamptz
comment on column reporting.node_incidents.ended_at is 'When it was well again; null: it is not.'; -- timestamptz
comment on column reporting.node_incidents.is_open is 'It lasts.'; -- boolean
comment on column reporting.node_incidents.duration_seconds is 'From the first failure to the end, or to the last look.'; -- numeric
comment on column reporting.node_incidents.down_seconds is 'Seconds of it that it was down, as the observer saw it who saw most.'; -- numeric
comment on column reporting.node_incidents.outages is 'How often it went down in that time.'; -- bigint
comment on column reporting.node_incidents.first_error is 'Why, at first.'; -- text
comment on column reporting.node_incidents.last_error is 'Why, at last.'; -- text
comment on column reporting.node_incidents.noticed_by is 'The observers that saw it down.'; -- text[]
comment on column reporting.node_incidents.first_noticed_by is 'The one that saw it first.'; -- text
comment on column reporting.node_incidents.failed_checks is 'The checks that failed meanwhile.'; -- text[]
comment on column reporting.node_incidents.failing_since is 'Since when a check fails by the account of the node itself; can lie before the first look.'; -- timestamptz
comment on column reporting.node_incidents.checks is 'Of each failed check: its first and its latest error, and since when and how often it failed by the count of the node itself.'; -- jsonb
