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

comment on view reporting.discrepancies is 'What two sources, or two answers of one, say differently of the same thing by more than is tolerated, with both values. Compared once an hour, as docs/reference/checks.md says; what still moves, is not there on both sides, or only lags is not compared.';
comment on column reporting.discrepancies.id is 'The discrepancy.'; -- bigint
comment on column reporting.discrepancies.check_name is 'The check that found it: see docs/reference/checks.md.'; -- text
comment on column reporting.discrepancies.dataset is 'The dataset of the right side.'; -- text
comment on column reporting.discrepancies.subject is 'What it is about, as key=value.'; -- text
comment on column reporting.discrepancies.at is 'The hour, day, week or month, the block or the reading that it is about; of lists and balances since when the two sides differ.'; -- timestamptz
comment on column reporting.discrepancies.left_source is 'Who or what says the left value.'; -- text
comment on column reporting.discrepancies.left_value is 'What it is held against.'; -- text
comment on column reporting.discrepancies.right_source is 'Who or what says the right value.'; -- text
comment on column reporting.discrepancies.right_value is 'What was found.'; -- text
comment on column reporting.discrepancies.difference is 'The right value less the left one; null: they are no numbers.'; -- numeric
comment on column reporting.discrepancies.relative_difference is 'The difference as a share of the larger value.'; -- numeric
comment on column reporting.discrepancies.tolerance is 'What the two were allowed to differ by.'; -- text
comment on column reporting.discrepancies.found_at is 'When it was found first.'; -- timestamptz
comment on column reporting.discrepancies.ended_at is 'When the two were found to agree, or it was not there any more; null: it still stands.'; -- timestamptz
