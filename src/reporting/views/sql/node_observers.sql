create or replace view reporting_internal.node_observers as
select o.observer, o.lease_until >= now() as watching, o.holder, o.heartbeat_at as settled_until, o.refused
from recorder.health_observers o;

comment on view reporting_internal.node_observers is 'The observers of the nodes, and the time up to which their observations are settled.';
comment on column reporting_internal.node_observers.observer is 'The observer: the configured name of its recorder.'; -- text
comment on column reporting_internal.node_observers.watching is 'True if a process watches now.'; -- boolean
comment on column reporting_internal.node_observers.holder is 'The process that watches.'; -- text
comment on column reporting_internal.node_observers.settled_until is 'Time up to which the ledger is settled. Later time is still unknown.'; -- timestamptz
comment on column reporting_internal.node_observers.refused is 'Probes whose rows the database rejects, with start and reason. Their ledgers are stalled. Null: none.'; -- jsonb
