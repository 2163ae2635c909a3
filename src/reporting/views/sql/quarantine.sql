create or replace view reporting.quarantine as
select q.id, q.dataset, q.target_key as target, q.run_id, q.quarantined_at, q.reason, q.item,
  q.quarantined_at as first_seen, q.last_seen, q.times
from recorder.quarantine q;

comment on view reporting.quarantine is 'Items that could not be decoded or stored: one row an item and reason.';
comment on column reporting.quarantine.id is 'The item.'; -- bigint
comment on column reporting.quarantine.dataset is 'The dataset it belongs to.'; -- text
comment on column reporting.quarantine.target is 'What was asked about.'; -- text
comment on column reporting.quarantine.run_id is 'The run that met it last.'; -- bigint
comment on column reporting.quarantine.quarantined_at is 'When it came first, as first_seen.'; -- timestamptz
comment on column reporting.quarantine.reason is 'What is wrong with it, by field.'; -- text
comment on column reporting.quarantine.item is 'Its JSON, as it came last.'; -- text
comment on column reporting.quarantine.first_seen is 'When it came first.'; -- timestamptz
comment on column reporting.quarantine.last_seen is 'When it came last.'; -- timestamptz
comment on column reporting.quarantine.times is 'How often it came.'; -- bigint
