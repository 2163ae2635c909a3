create or replace view reporting.budgets as
select b.upstream, b.endpoint, b.minute, b.minute_units, b.day, b.day_units, b.blocked_until
from recorder.budgets b;

comment on view reporting.budgets is 'What of the budget of each upstream and key is used. Counted where there is a limit.';
comment on column reporting.budgets.upstream is 'The upstream.'; -- text
comment on column reporting.budgets.endpoint is 'A digest of the server and the key header.'; -- text
comment on column reporting.budgets.minute is 'The last minute in which something was used.'; -- timestamptz
comment on column reporting.budgets.minute_units is 'What was used in it.'; -- bigint
comment on column reporting.budgets.day is 'The last day (UTC) on which something was used.'; -- date
comment on column reporting.budgets.day_units is 'What was used on it.'; -- bigint
comment on column reporting.budgets.blocked_until is 'Until when the upstream asked us to stay away; null: it did not.'; -- timestamptz
