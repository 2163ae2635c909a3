create or replace view reporting.node_observers as
select o.observer, o.lease_until >= now() as watching, o.holder, o.heartbeat_at as settled_until, o.refused
from recorder.health_observers o;

comment on view reporting.node_observers is 'Who watches the nodes, and up to when what they saw is settled.';
comment on column reporting.node_observers.observer is 'The recorder that looked, by its configured name.'; -- text
comment on column reporting.node_observers.watching is 'Whether a process watches now.'; -- boolean
comment on column reporting.node_observers.holder is 'The process that does.'; -- text
comment on column reporting.node_observers.settled_until is 'Up to here the ledger is settled; what comes after is unknown so far.'; -- timestamptz
comment on column reporting.node_observers.refused is 'Probes whose rows the database refuses, with since when and why: their ledgers are stalled. Null: none.'; -- jsonb
