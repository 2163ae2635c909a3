create or replace function reporting_internal.kept_from(
  dataset text, -- The dataset.
  "from" timestamptz -- The start of a window.
)
returns timestamptz
language sql stable parallel safe as $$
  select greatest("from", (select r.kept_since from reporting_internal.retention r where r.dataset = kept_from.dataset))
$$;

comment on function reporting_internal.kept_from is 'The start of a window, or the start of the retained data of a dataset if that is later. Older data may be incomplete.';
