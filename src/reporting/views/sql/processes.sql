create or replace view reporting_internal.processes as
select p.process, p.recorder, c.network, p.roles,
  case
    when p.left_at is not null then 'stopped'
    -- As long as membership takes a process for alive.
    when p.seen_at <= now() - interval '20 s' then 'lost'
    when c.newest then 'running'
    else 'outdated' end as state,
  p.started_at, p.seen_at,
  case when not c.newest then greatest(n.first_seen_at, p.started_at) end as outdated_since, p.connections_full_at
from recorder.processes p
join recorder.configurations c using (recorder, digest)
left join recorder.configurations n on n.recorder = p.recorder and n.newest;

comment on view reporting_internal.processes is 'The processes of up that write to this database, by its clock. Those without a sign of life for a day are left out sooner or later.';
comment on column reporting_internal.processes.process is 'Machine, process id, and a number of its own.'; -- text
comment on column reporting_internal.processes.recorder is 'The recorder that it belongs to, by name.'; -- text
comment on column reporting_internal.processes.network is 'The network that it records.'; -- text
comment on column reporting_internal.processes.roles is 'What it does: scheduler, worker, server.'; -- text[]
comment on column reporting_internal.processes.state is 'running; outdated: it runs with an older configuration than the newest of its recorder; stopped; lost: it gave no sign of life for 20 s.'; -- text
comment on column reporting_internal.processes.started_at is 'When it started.'; -- timestamptz
comment on column reporting_internal.processes.seen_at is 'Its last sign of life.'; -- timestamptz
comment on column reporting_internal.processes.outdated_since is 'Since when a newer configuration is known; null: it has the newest.'; -- timestamptz
comment on column reporting_internal.processes.connections_full_at is 'When its server last had its maximum of connections; null: never.'; -- timestamptz
