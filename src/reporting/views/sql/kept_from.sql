create or replace function reporting_internal.kept_from(
  dataset text, -- The dataset.
  "from" timestamptz -- The start of a window.
)
returns timestamptz
language sql stable parallel safe as $$
  select greatest("from", (select r.kept_since from reporting.retention r where r.dataset = kept_from.dataset))
$$;

comment on function reporting_internal.kept_from is 'From when on a question about a window is answered: from its start, or since when a dataset is kept whole where that is later. What is left of the time before is less than there was.';
