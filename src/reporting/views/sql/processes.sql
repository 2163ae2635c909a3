create or replace view reporting_internal.processes as
select p.process, p.recorder, c.network, p.roles,
  case
    when p.left_at is not null then 'stopped'
    -- HEARTBEAT_TIMEOUT_SECONDS of the recorder.
    when p.seen_at <= now() - interval '20 s' then 'lost'
    when c.newest then 'running'
    else 'outdated' end as state,
  p.started_at, p.seen_at,
  case when not c.newest then greatest(n.first_seen_at, p.started_at) end as outdated_since, p.connections_full_at
from recorder.processes p
join recorder.configurations c using (recorder, digest)
left join recorder.configurations n on n.recorder = p.recorder and n.newest;

comment on view reporting_internal.processes is 'The processes of the command up that write to this database, by the clock of the database. Processes without a heartbeat for a day are removed eventually.';
comment on column reporting_internal.processes.process is 'Host, process id, and a unique number.'; -- text
comment on column reporting_internal.processes.recorder is 'Name of the recorder of the process.'; -- text
comment on column reporting_internal.processes.network is 'The network that the process records.'; -- text
comment on column reporting_internal.processes.roles is 'Roles of the process: scheduler, worker, server.'; -- text[]
comment on column reporting_internal.processes.state is 'running; outdated: the configuration is older than the newest configuration of the recorder; stopped; lost: no heartbeat for 20 s.'; -- text
comment on column reporting_internal.processes.started_at is 'Start of the process.'; -- timestamptz
comment on column reporting_internal.processes.seen_at is 'Time of the last heartbeat.'; -- timestamptz
comment on column reporting_internal.processes.outdated_since is 'Time since which a newer configuration exists. Null: the process has the newest configuration.'; -- timestamptz
comment on column reporting_internal.processes.connections_full_at is 'Time at which the server last reached its maximum of connections. Null: the maximum was never reached.'; -- timestamptz
