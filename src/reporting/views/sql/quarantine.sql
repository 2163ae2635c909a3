create or replace view reporting.quarantine as
select q.id, q.dataset, q.target_key as target, q.run_id, q.quarantined_at, q.reason, q.item,
  q.quarantined_at as first_seen, q.last_seen, q.times
from recorder.quarantine q;

comment on view reporting.quarantine is 'Items that could not be decoded or stored: one row per item and reason.';
comment on column reporting.quarantine.id is 'The id of the quarantined item.'; -- bigint
comment on column reporting.quarantine.dataset is 'The dataset of the item.'; -- text
comment on column reporting.quarantine.target is 'The target of the requests, as key=value.'; -- text
comment on column reporting.quarantine.run_id is 'The last run that received the item.'; -- bigint
comment on column reporting.quarantine.quarantined_at is 'Time at which the item was first received, the same as first_seen.'; -- timestamptz
comment on column reporting.quarantine.reason is 'The problems of the item, by field.'; -- text
comment on column reporting.quarantine.item is 'JSON of the item, as last received.'; -- text
comment on column reporting.quarantine.first_seen is 'Time at which the item was first received.'; -- timestamptz
comment on column reporting.quarantine.last_seen is 'Time at which the item was last received.'; -- timestamptz
comment on column reporting.quarantine.times is 'Number of times that the item was received.'; -- bigint
