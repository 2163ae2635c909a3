create or replace function reporting_internal.known_since(
  dataset text -- The dataset.
)
returns timestamptz
language sql stable parallel safe as $$
  select greatest(
    coalesce((select min(r.recorded_since) from reporting_internal.recorded_since r where r.dataset = known_since.dataset), now()),
    (select r.kept_since from reporting_internal.retention r where r.dataset = known_since.dataset))
$$;

comment on function reporting_internal.known_since is 'The start of the record of a dataset: its first recording, or the start of its retained data. The current time if nothing was recorded.';
