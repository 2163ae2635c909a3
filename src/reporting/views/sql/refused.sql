create or replace function reporting_internal.refused(
  reason text -- Why the question has no right answer.
)
returns text
language plpgsql stable parallel safe as $$
begin
  raise exception '%', reason using errcode = 'invalid_parameter_value';
end
$$;

comment on function reporting_internal.refused is 'Ends a question that has no right answer with the reason, instead of a wrong number.';
