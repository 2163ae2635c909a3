create or replace view reporting.node_maintenance as
select m.id, m.node, m.starts_at, m.ends_at, m.reason, m.announced_at
from recorder.health_maintenance m
where m.ends_at > m.starts_at;

comment on view reporting.node_maintenance is 'Maintenance that was announced by command. What recorder.yaml announces is not here; both stand in the ledger once they have begun.';
comment on column reporting.node_maintenance.id is 'Its number.'; -- integer
comment on column reporting.node_maintenance.node is 'The configured node; null: all nodes.'; -- text
comment on column reporting.node_maintenance.starts_at is 'Start.'; -- timestamptz
comment on column reporting.node_maintenance.ends_at is 'End.'; -- timestamptz
comment on column reporting.node_maintenance.reason is 'Why; null: that was not said.'; -- text
comment on column reporting.node_maintenance.announced_at is 'When it was announced.'; -- timestamptz
