create or replace view reporting.freshness as
select d.dataset, d.target_key as target, looked.last_success_at, expected.every as expected_every,
  case when expected.every is not null then
    greatest(now() - greatest(looked.last_success_at, d.requested_since) - expected.every, interval '0') end as late_by,
  d.failures, d.unsupported_reason, looked.last_complete_at, d.incomplete_since,
  case when d.failures > 0 then d.last_error else coalesce(d.incomplete_reason,
    case when d.unconfirmed_departures > 0 then format('departures unconfirmed: %s', d.unconfirmed_departures) end) end as reason,
  d.requested_since, d.last_failure_at, d.last_error as last_failure, d.rows_written,
  case when d.rows_day = (now() at time zone 'UTC')::date then d.rows_today else 0 end as rows_today,
  d.unconfirmed_departures,
  case when d.dataset <> 'node_health' then d.first_success_at else (
    select min(h.started_at) from recorder.node_health h
    where (h.observer, h.node, h.probe, h.check_name)
      = (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe', '*')) end as recorded_since,
  (select k.kept_since from recorder.retention k where k.dataset = d.dataset) as kept_since
from recorder.target_datasets d
join recorder.targets t using (source, target_key)
left join recorder.health_probes p on d.dataset = 'node_health'
  and (p.observer, p.node, p.probe) = (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe')
cross join lateral (
  select greatest(d.last_success_at, p.probed_at) as last_success_at,
    greatest(d.last_complete_at, p.probed_at) as last_complete_at) looked
cross join lateral (
  select case when not d.once or looked.last_complete_at is null
    then make_interval(secs => d.every_ms / 1000.0) end as every) expected
where d.active;

comment on view reporting.freshness is 'The delay of each dataset and target.';
comment on column reporting.freshness.dataset is 'The dataset.'; -- text
comment on column reporting.freshness.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting.freshness.last_success_at is 'Time of the last successful run. Null: no run has succeeded.'; -- timestamptz
comment on column reporting.freshness.expected_every is 'Poll interval. Null: the data does not change and is not requested again.'; -- interval
comment on column reporting.freshness.late_by is 'Time by which the age of the last success exceeds the poll interval. If the target was configured later, the time is measured from then.'; -- interval
comment on column reporting.freshness.failures is 'Number of failed runs since the last success.'; -- integer
comment on column reporting.freshness.unsupported_reason is 'Reason why the upstream does not offer the target. Null: the upstream offers the target.'; -- text
comment on column reporting.freshness.last_complete_at is 'Time of the last complete run. Null: no run was complete.'; -- timestamptz
comment on column reporting.freshness.incomplete_since is 'Time since which every successful run was incomplete. Null: the last successful run was complete.'; -- timestamptz
comment on column reporting.freshness.reason is 'Reason why the target fails or is incomplete, or the unconfirmed departures.'; -- text
comment on column reporting.freshness.requested_since is 'Time since which the target is configured.'; -- timestamptz
comment on column reporting.freshness.last_failure_at is 'Time of the last failed run.'; -- timestamptz
comment on column reporting.freshness.last_failure is 'Error of the last failed run.'; -- text
comment on column reporting.freshness.rows_written is 'Total number of rows written.'; -- bigint
comment on column reporting.freshness.rows_today is 'Rows written today (UTC).'; -- bigint
comment on column reporting.freshness.unconfirmed_departures is 'Members that the last complete observation did not contain, and that stay current until a later observation confirms their absence.'; -- integer
comment on column reporting.freshness.recorded_since is 'Start of the first successful run, or of the ledger. Null: nothing was recorded.'; -- timestamptz
comment on column reporting.freshness.kept_since is 'Start of the kept rows; older rows may have been removed (reporting_internal.retention). Null: nothing was removed.'; -- timestamptz
