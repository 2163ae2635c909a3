create or replace view reporting_internal.budgets as
select b.upstream, b.endpoint, b.minute, b.minute_units, b.day, b.day_units, b.blocked_until, b.blocked_by
from recorder.budgets b;

comment on view reporting_internal.budgets is 'Used units of the budget of each upstream and key. Units are counted only if there is a limit.';
comment on column reporting_internal.budgets.upstream is 'The upstream.'; -- text
comment on column reporting_internal.budgets.endpoint is 'A digest of the server and the key header.'; -- text
comment on column reporting_internal.budgets.minute is 'The last minute in which units were used.'; -- timestamptz
comment on column reporting_internal.budgets.minute_units is 'Units that were used in that minute.'; -- bigint
comment on column reporting_internal.budgets.day is 'The last day (UTC) on which units were used.'; -- date
comment on column reporting_internal.budgets.day_units is 'Units that were used on that day.'; -- bigint
comment on column reporting_internal.budgets.blocked_until is 'Time until which the upstream is not called because of one of its responses. Null: no such response was received.'; -- timestamptz
comment on column reporting_internal.budgets.blocked_by is 'The header that set blocked_until, such as retry-after: 30.'; -- text
