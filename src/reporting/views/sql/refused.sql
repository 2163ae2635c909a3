create or replace function reporting_internal.refused(
  reason text -- Reason why the query has no correct result.
)
returns text
language plpgsql stable parallel safe as $$
begin
  raise exception '%', reason using errcode = 'invalid_parameter_value';
end
$$;

comment on function reporting_internal.refused is 'Raises an error with the reason if a query has no correct result, instead of returning a wrong number.';
