create or replace view reporting.node_outages as
select o.observer, o.node, o.probe, o.started_at, o.ended_at, o.seen_until, o.down_seconds, o.error, o.last_error
from reporting.node_outages_in('-infinity', 'infinity') o;

comment on view reporting.node_outages is 'Each time that an observer saw a probe go down, until it saw something else, whatever it said meanwhile.';
comment on column reporting.node_outages.observer is 'The recorder that looked, by its configured name.'; -- text
comment on column reporting.node_outages.node is 'The configured node.'; -- text
comment on column reporting.node_outages.probe is 'The probe; with :TAG, of a part of the node only.'; -- text
comment on column reporting.node_outages.started_at is 'When it went down: the first failure.'; -- timestamptz
comment on column reporting.node_outages.ended_at is 'When something else was said; null: it is down.'; -- timestamptz
comment on column reporting.node_outages.seen_until is 'The end, or up to when it is settled that it is down.'; -- timestamptz
comment on column reporting.node_outages.down_seconds is 'Seconds of it that the observer saw: without the times in which it did not look.'; -- numeric
comment on column reporting.node_outages.error is 'Why, at first.'; -- text
comment on column reporting.node_outages.last_error is 'Why, at last.'; -- text
