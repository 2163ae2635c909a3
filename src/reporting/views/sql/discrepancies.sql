create or replace view reporting.discrepancies as
select d.id, d.check_name, d.dataset, d.subject, d.at, d.left_source, d.left_value, d.right_source, d.right_value,
  compared.difference,
  round(compared.difference / nullif(greatest(abs(compared.left_number), abs(compared.right_number)), 0), 6) as relative_difference,
  d.tolerance, d.found_at, d.ended_at
from recorder.discrepancies d
cross join lateral (
  select case when d.left_value ~ '^-?\d+(\.\d+)?$' then d.left_value::numeric end as left_number,
    case when d.right_value ~ '^-?\d+(\.\d+)?$' then d.right_value::numeric end as right_number
) numbers
cross join lateral (
  select numbers.left_number, numbers.right_number, numbers.right_number - numbers.left_number as difference
) compared;

comment on view reporting.discrepancies is 'Differences above the tolerance between two sources, or between two responses of one source, with both values. The sources are compared once an hour (docs/reference/checks.md). Values that still change, exist on one side only, or only lag are not compared.';
comment on column reporting.discrepancies.id is 'The id of the discrepancy.'; -- bigint
comment on column reporting.discrepancies.check_name is 'The check that found the discrepancy: see docs/reference/checks.md.'; -- text
comment on column reporting.discrepancies.dataset is 'The dataset of the right side.'; -- text
comment on column reporting.discrepancies.subject is 'The compared entity, as key=value.'; -- text
comment on column reporting.discrepancies.at is 'Time of the compared hour, day, week, month, block or reading. For lists and balances: time since which the two sides differ.'; -- timestamptz
comment on column reporting.discrepancies.left_source is 'The source of the left value.'; -- text
comment on column reporting.discrepancies.left_value is 'The value to compare with.'; -- text
comment on column reporting.discrepancies.right_source is 'The source of the right value.'; -- text
comment on column reporting.discrepancies.right_value is 'The compared value.'; -- text
comment on column reporting.discrepancies.difference is 'The right value minus the left value. Null: the values are not numbers.'; -- numeric
comment on column reporting.discrepancies.relative_difference is 'The difference as a share of the larger value.'; -- numeric
comment on column reporting.discrepancies.tolerance is 'The allowed difference.'; -- text
comment on column reporting.discrepancies.found_at is 'Time at which the discrepancy was first found.'; -- timestamptz
comment on column reporting.discrepancies.ended_at is 'Time at which the two values were found to agree, or were no longer compared; for heights, lists and balances: time at which the difference was no longer found. Null: the discrepancy is open.'; -- timestamptz
