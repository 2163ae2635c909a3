create or replace function reporting_internal.has_record(
  dataset text, -- The dataset.
  at timestamptz -- The moment.
)
returns boolean
language plpgsql stable parallel safe as $$
declare
  since timestamptz;
  kept timestamptz;
begin
  if at >= reporting_internal.known_since(dataset) then
    return true;
  end if;
  select min(r.recorded_since) into since from reporting_internal.recorded_since r where r.dataset = has_record.dataset;
  select r.kept_since into kept from reporting_internal.retention r where r.dataset = has_record.dataset;
  if at >= coalesce(since, now()) and at < kept then
    raise exception 'the state of % at % was removed by the retention', dataset, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      using errcode = 'invalid_parameter_value',
        hint = 'rows are kept since ' || to_char(kept at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' (retention in recorder.yaml)';
  elsif since is null then
    raise exception 'there is no record of % yet', dataset using errcode = 'invalid_parameter_value';
  else
    raise exception 'there is no record of % at %', dataset, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      using errcode = 'invalid_parameter_value',
        hint = 'recorded since ' || to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
  end if;
end
$$;

comment on function reporting_internal.has_record is 'Checks whether a dataset was recorded at a moment. Returns true or raises an error, so that a query of a moment without a record, or with removed data, never returns an empty result.';
