create or replace function reporting.gaps_between(
  "from" timestamptz, -- The first moment.
  "to" timestamptz, -- The end, itself not in it.
  dataset text default null -- Only of this dataset.
)
returns table (
  dataset text, -- The dataset.
  target text, -- What was asked about.
  range_start timestamptz, -- First moment in the window that is missing.
  range_end timestamptz, -- End of what is missing in it.
  seconds numeric, -- How long that is.
  reason text -- Why; "not recorded yet" can still be fetched, anything else cannot.
)
language sql stable parallel safe as $$
select g.dataset, g.target, greatest(g.range_start, "from"), least(g.range_end, "to"),
  extract(epoch from least(g.range_end, "to") - greatest(g.range_start, "from")), g.reason
from reporting.gaps g
where g.range_start < "to" and g.range_end > "from" and (gaps_between.dataset is null or g.dataset = gaps_between.dataset)
order by 1, 2, 3
$$;

comment on function reporting.gaps_between is 'What the record lacks of a window of time, and why.';
