create or replace function reporting_internal.known_since(
  dataset text -- The dataset.
)
returns timestamptz
language sql stable parallel safe as $$
  select greatest(
    coalesce((select min(r.recorded_since) from reporting_internal.recorded_since r where r.dataset = known_since.dataset), now()),
    (select r.kept_since from reporting.retention r where r.dataset = known_since.dataset))
$$;

comment on function reporting_internal.known_since is 'Since when it is known what a dataset held: since it was first recorded, or since what is kept of it starts. Now, where nothing was recorded.';
