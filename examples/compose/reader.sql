-- The user by whom Grafana reads `reporting`, and nothing else. It may run again: at each start of docker-compose.yml it does.
\set ON_ERROR_STOP on
\getenv password GRAFANA_DB_PASSWORD
select 'create role grafana' where not exists (select from pg_roles where rolname = 'grafana') \gexec
alter role grafana login password :'password';
-- Compiling a question often takes longer than the question.
alter role grafana set jit = off;
grant recorder_reader to grafana;
