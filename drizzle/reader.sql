-- The role that may only read what `reporting` shows. Roles are the cluster's: another database may have made it.
do $$
begin
  if not exists (select from pg_roles where rolname = 'recorder_reader') then
    create role recorder_reader nologin;
    alter role recorder_reader set timezone to 'UTC';
  end if;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then
    raise exception 'the role recorder_reader is missing and this user may not create it'
      using hint = 'as a superuser: create role recorder_reader nologin';
end
$$;
