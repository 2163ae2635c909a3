-- Takes from every role that is no superuser what may stop a recording in its database: locks with numbers, which all roles share (too
-- many of them leave the server no room for any lock), and large objects, which fill the disk. Run by a superuser, in a database that
-- other programs do not use. The embedded database has it.
do $$
declare
  one regprocedure;
begin
  for one in
    select oid from pg_proc where pronamespace = 'pg_catalog'::regnamespace
      and (proname ~ '^pg_(try_)?advisory_(xact_)?lock' or proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite'))
  loop
    execute format('revoke execute on function %s from public', one);
  end loop;
end
$$;
