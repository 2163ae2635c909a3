create or replace function reporting.gaps_between(
  "from" timestamptz, -- Start of the window.
  "to" timestamptz, -- End of the window, exclusive.
  dataset text default null -- Returns only gaps of this dataset.
)
returns table (
  dataset text, -- The dataset.
  target text, -- The target of the requests, as key=value.
  range_start timestamptz, -- Start of the missing range in the window.
  range_end timestamptz, -- End of the missing range in the window, exclusive.
  seconds numeric, -- Duration of the missing range.
  reason text -- Reason for the gap. Data with the reason "not recorded yet" can still be fetched, all other data cannot.
)
language sql stable parallel safe as $$
select g.dataset, g.target, greatest(g.range_start, "from"), least(g.range_end, "to"),
  extract(epoch from least(g.range_end, "to") - greatest(g.range_start, "from")), g.reason
from reporting.gaps g
where g.range_start < "to" and g.range_end > "from" and (gaps_between.dataset is null or g.dataset = gaps_between.dataset)
order by 1, 2, 3
$$;

comment on function reporting.gaps_between is 'Missing data in a time window, with reasons.';
