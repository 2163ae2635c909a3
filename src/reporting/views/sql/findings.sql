create or replace view reporting.findings as
with target_findings as (
  -- The first state that applies: late, failing or incomplete. Targets that the upstream does not offer are omitted.
  select case when lateness.is_late then 'late' when f.failures > 0 then 'failing' else 'incomplete' end as state,
    f.dataset, f.target,
    case when lateness.is_late or f.failures > 0 then greatest(f.last_success_at, f.requested_since)
      else f.incomplete_since end as since,
    coalesce(f.reason, case when f.last_success_at is null then 'no run has succeeded yet'
      else 'no run has succeeded' end) as reason
  from reporting.freshness f
  cross join lateral (select f.late_by + f.expected_every > 3 * f.expected_every as is_late) lateness
  where f.unsupported_reason is null and (lateness.is_late or f.failures > 0 or f.incomplete_since is not null)
),
observers as (
  select t.target ->> 'observer' as observer, coalesce(h.lease_until >= now(), false) as watching,
    greatest(h.heartbeat_at, min(d.requested_since)) as moved_at
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  left join recorder.health_observers h on h.observer = t.target ->> 'observer'
  where d.dataset = 'node_health' and d.active
  group by 1, 2, h.heartbeat_at
),
-- Configured probes whose rows the database rejects.
refused_probes as (
  select concat_ws(' ', o.observer, one ->> 'node', one ->> 'probe') as probe, (one ->> 'since')::timestamptz as settled_until,
    one ->> 'reason' as refused
  from recorder.health_observers o
  cross join lateral jsonb_array_elements(o.refused) as one
  where exists (
    select from recorder.targets t
    join recorder.target_datasets d using (source, target_key)
    where d.dataset = 'node_health' and d.active and (t.target ->> 'observer', t.target ->> 'node', t.target ->> 'probe')
      = (o.observer, one ->> 'node', one ->> 'probe'))
),
schedule_states as (
  select s.schedule,
    case
      when unseen.is_so then s.seen_at
      when now() - s.missing_since > interval '1 minute' then s.missing_since
      when now() - s.next_at > greatest(s.expected_every, interval '1 minute') then s.next_at end as stalled_since,
    case
      when unseen.is_so then 'no process runs the schedules: start a process with the role scheduler that can connect to the queue'
      when s.next_at is null then 'the schedule is missing in the queue'
      else 'the next job of the schedule is overdue' end as reason
  from reporting_internal.schedules s
  cross join lateral (
    select now() - s.seen_at > greatest(3 * s.expected_every, interval '1 minute') as is_so) unseen
),
newest_commit as (
  select min(f.expected_every) filter (where f.unsupported_reason is null) as every,
    greatest(max(f.last_success_at), max(f.last_failure_at), max(f.requested_since)) as at
  from reporting.freshness f
  where f.dataset <> 'node_health'
),
-- A day is sealed an hour after its end, so the newest seal is at most two days old. One more day is tolerated.
sealing as (
  select coalesce(max(s.until) filter (where s.made_at is not null), c.first_seen_at) as sealed_until,
    max(s.error) filter (where s.made_at is null) as error
  from (select min(first_seen_at) as first_seen_at from recorder.configurations) c
  left join recorder.seals s on true
  where c.first_seen_at is not null
  group by c.first_seen_at
),
-- The time without new items for each target of an index, and its usual maximum: the greatest of ten times the mean
-- interval of the items, three times the longest interval, and one hour. Targets without a new item for 30 days are
-- omitted, because they may have no new items.
index_targets as (
  select d.dataset, d.target_key, t.index_name, split_part(t.index_name, ' ', 1) as service, t.newest_item_at,
    d.last_success_at - t.newest_item_at as silence,
    make_interval(secs => greatest(10 * t.usual_interval_ms, 3 * t.longest_interval_ms, 3600000) / 1000.0) as usual_silence,
    make_interval(secs => t.usual_interval_ms / 1000) as usual_interval
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  where d.active and t.usual_interval_ms is not null and t.newest_item_at > d.last_success_at - interval '720 hours'
),
-- A target is compared only if a silence as long as the longest stall would be unusual for this target.
index_votes as (
  select v.*, v.silence > v.usual_silence as is_stalled,
    max(v.silence) filter (where v.silence > v.usual_silence) over (partition by v.service) > v.usual_silence as of_service,
    max(v.silence) filter (where v.silence > v.usual_silence) over (partition by v.index_name) > v.usual_silence as of_index
  from index_targets v
),
index_stalls as (
  select v.*,
    case when bool_and(v.is_stalled) filter (where v.of_service) over (partition by v.service) then v.service
      when bool_and(v.is_stalled) filter (where v.of_index) over (partition by v.index_name) then v.index_name
      else v.target_key end as subject
  from index_votes v
),
-- The last heartbeat of a worker of each running recorder.
workers as (
  select c.recorder, coalesce(max(p.seen_at) filter (where 'worker' = any(p.roles)), c.first_seen_at) as worked_at
  from recorder.configurations c
  join reporting_internal.processes p on p.recorder = c.recorder
  where c.newest
  group by c.recorder, c.first_seen_at
  having bool_or(p.state in ('running', 'outdated'))
)
select state, 'target'::text as component, dataset, target as subject, since, reason from target_findings
union all
-- A process that probes settles its ledger every second.
select 'stalled', 'ledger', 'node_health', observer, least(moved_at, now()),
  case when moved_at > now() then format('the ledger is %s s ahead of the clock of the database: no time is recorded until a process acquires the ledger', round(extract(epoch from moved_at - now())))
    when watching then 'a process probes for this observer, but does not update the ledger'
    else 'no process probes for this observer' end
from observers
where moved_at > now() + interval '2 seconds'
  or now() - moved_at > case when watching then interval '30 seconds' else interval '1 minute' end
union all
select 'stalled', 'ledger', 'node_health', probe, settled_until, refused from refused_probes
union all
select 'stalled', 'index-stalled', case when count(distinct dataset) = 1 then min(dataset) end, subject, max(newest_item_at),
  format('the index returns no newer item for %s %s, whose usual interval between items is %s: later time is not recorded as covered, and is requested again daily until the index returns it',
    count(*), case when count(*) = 1 then 'target' else 'targets' end, date_trunc('second', min(usual_interval)))
from index_stalls
where is_stalled
group by subject
union all
select 'incomplete', 'ledger', 'node_health', concat_ws(' ', h.observer, h.node, h.probe), h.started_at,
  'the node reports checks under more than 1000 names: all further checks are recorded as one check "(more)"'
from recorder.node_health h
where h.check_name = '(more)' and h.ended_at is null
union all
select 'stalled', 'schedule', null, schedule, stalled_since, reason from schedule_states
where stalled_since is not null
union all
select 'stalled', 'commits', null, 'the whole record', at, 'no run has committed since'
from newest_commit
where now() - at > greatest(3 * every, interval '1 minute')
union all
select 'stalled', 'seals', null, 'the seals of the record', sealed_until,
  coalesce('sealing failed: ' || error, 'no process with the role scheduler seals the record: start one')
from sealing
where now() - sealed_until > interval '72 hours'
union all
-- A day is closed within two hours after its end.
select 'stalled', 'readings', c.relname::text, array_to_string(s.request, ', '), min(l.observed_at),
  'ended days are not packed: start a process with the role scheduler; if one runs, its log has the error'
from recorder.reading_open l
join recorder.reading_scopes s on s.scope_id = l.scope_id
join pg_class c on c.oid = l.dataset
where l.observed_at < now() - interval '72 hours'
group by c.relname, s.request
union all
-- The sources are compared once an hour; three hours are tolerated.
select 'stalled', 'checks', null, scope, coalesce(failed_since, checked_at),
  coalesce('the comparison of the sources failed: ' || error, 'the sources were not compared since')
from reporting_internal.check_runs
where failed_since is not null or now() - checked_at > interval '3 hours'
union all
-- While processes are replaced, old and new processes run at the same time for a moment.
select 'outdated', 'process', null, process, outdated_since,
  format('the recorder "%s" has a newer configuration: this process records only the targets that both configurations contain. Restart the process with the newer recorder.yaml. If the two are different recorders, set another name (name:) for one', recorder)
from reporting_internal.processes
where state = 'outdated' and now() - outdated_since > interval '1 minute'
union all
select 'failing', 'server', null, process, connections_full_at,
  'the server reached its maximum of connections: idle connections were closed, and new connections may have been refused. Check the clients; put a proxy in front of a public server'
from reporting_internal.processes
where state in ('running', 'outdated') and connections_full_at > now() - interval '5 minutes'
union all
select 'stalled', 'workers', null, 'the workers of the recorder ' || recorder, worked_at,
  'no process with the role worker runs: due jobs wait in the queue'
from workers
where now() - worked_at > interval '1 minute'
union all
select 'stalled', 'queue', null, queue || case when recorder = 'recorder' then '' else ' of ' || recorder end,
  error_since, error
from reporting_internal.queues
where now() - error_since > interval '30 s' and now() - seen_at <= interval '1 minute'
union all
-- Only alerts of running recorders.
select 'failing', 'alerts', null, a.subject, a.since, a.reason
from (
  select recorder, 'the rule ' || rule as subject, failed_since as since, 'the evaluation failed: ' || error as reason
  from recorder.alert_rules where failed_since is not null
  union all
  select recorder, case channel when 'heartbeat' then 'the heartbeat' else 'the channel ' || channel end, failing_since,
    'the delivery failed: ' || error
  from recorder.alert_channels where failing_since is not null
  union all
  select recorder, 'the channel ' || channel, min(made_at),
    count(*) || ' messages of the last day were not delivered: ' || min(error)
  from recorder.alert_messages where state in ('refused', 'dropped') and made_at > now() - interval '24 hours'
  group by recorder, channel
) a
where a.recorder in (select p.recorder from reporting_internal.processes p where p.state in ('running', 'outdated'))
union all
-- An export is late after more than three intervals, like a target.
select case when is_late then 'late' else 'failing' end, 'export', null, e.destination, coalesce(e.exported_at, e.requested_since),
  case when e.error is not null
      then e.error || ': files of earlier exports are unchanged, and the export is retried; chain-recorder doctor checks the destination'
    when e.began_at > greatest(e.last_success_at, e.last_failure_at, '-infinity')
      then 'the export that started at ' || to_char(e.began_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC has not ended: if it still runs, it takes longer than its interval; increase exports[].every'
    else 'no process with the role worker exports: start one; chain-recorder doctor reports the cause' end
from reporting_internal.exports e
cross join lateral (select e.age > 3 * e.expected_every as is_late) lateness
where (is_late or e.failing_since is not null)
  and e.recorder in (select p.recorder from reporting_internal.processes p where p.state in ('running', 'outdated'))
union all
select case when failing_since is null then 'stalled' else 'failing' end, 'changes', null, 'the sink ' || sink,
  coalesce(failing_since, waiting_since),
  coalesce('the sink accepts no changes: ' || error, 'changes wait and are not sent: start a process with the role worker and the newest configuration')
from reporting_internal.change_sinks
where (failing_since is not null or (now() - waiting_since > interval '1 minute' and now() - coalesce(sent_at, since) > interval '1 minute'))
  and recorder in (select p.recorder from reporting_internal.processes p where p.state in ('running', 'outdated'))
union all
-- The sink of a recorder that was removed prevents the removal of old changes.
select 'stalled', 'changes', null, 'the sink ' || sink || ' of the recorder ' || recorder, waiting_since,
  'changes are kept for this sink, but no process of its recorder runs: start one; or, if the recorder is removed, delete from recorder.change_sinks where recorder = ' || quote_literal(recorder)
from reporting_internal.change_sinks
where now() - waiting_since > interval '168 hours'
  and recorder not in (select p.recorder from reporting_internal.processes p where p.state in ('running', 'outdated'))
union all
select case when error_since is null then 'late' else 'failing' end, 'replica', null, replica, coalesce(error_since, behind_since),
  coalesce(error, format('the replica is %s s behind: pages, reports and exports show that state. Check the load and network of the replica, and statements that block the replay', round(lag_seconds)))
from reporting_internal.replicas
where coalesce(error_since, behind_since) is not null and now() - seen_at <= interval '1 minute'
union all
select 'stalled', 'retention', dataset, 'the removal of old rows', moved_at,
  'the removal has not ended: start a process with the role scheduler; if one runs, its log has the error'
from reporting_internal.retention
where finished_at is null and now() - moved_at > interval '24 hours'
union all
select 'failing', 'node', null, b.node, b.differs_since, b.difference
from recorder.node_bindings b
where b.difference is not null and exists (
  select from recorder.targets t
  join recorder.target_datasets d using (source, target_key)
  where d.active and t.target ->> 'node' = b.node);

comment on view reporting.findings is 'Components with a problem, and the reasons. No rows: recording is healthy.';
comment on column reporting.findings.state is 'Kind of the problem: late, failing, incomplete, outdated, or stalled.'; -- text
comment on column reporting.findings.component is 'target, ledger (of an observer, or of one probe), schedule, commits, seals, readings (their packing), checks (across sources), process, workers (of a recorder), server (its connections), queue, alerts (a rule or a channel), export (by schedule), changes (a sink of the feed), replica (that is read from), index-stalled (of a service, one of its indexes, or a target), retention (removal of old data), or node (another node responds).'; -- text
comment on column reporting.findings.dataset is 'The dataset. Null: the finding does not concern a dataset.'; -- text
comment on column reporting.findings.subject is 'The target, observer, probe, schedule, comparison, process, queue, service, index, export target or node.'; -- text
comment on column reporting.findings.since is 'Start of the problem. For late or failing targets: time of the last success, or of the first request if there was no success.'; -- timestamptz
comment on column reporting.findings.reason is 'Reason of the problem, as far as known.'; -- text
