-- Made by "npm run docs".
-- Every version of node_validators, kept up to date by the change feed. A run reads only the versions of keys that changed since the
-- last one; commits become visible in the order of the feed, so that none is missed. A cursor that is older than changes.keep is
-- refused: then run once with --full-refresh.
{{ config(materialized='incremental', unique_key='version_id') }}
select versions.*, feed.cursor as feed_cursor
from {{ source('reporting', 'node_validators_history') }} versions
{% if is_incremental() %}
join (
  select distinct (key ->> 'node')::text as node, (key ->> 'subnet_id')::text as subnet_id, (key ->> 'node_id')::text as node_id, (key ->> 'start_time')::timestamptz as start_time
  from reporting.changes((
    select feed_cursor from {{ this }} order by split_part(feed_cursor, '.', 1)::bigint desc nulls last limit 1), 2147483647)
  where dataset = 'validators'
  union
  select node, subnet_id, node_id, start_time from {{ source('reporting', 'node_validators_history') }} where not exists (select from {{ this }})) changed using (node, subnet_id, node_id, start_time)
{% endif %}
left join (select cursor from reporting.change_commits order by commit_number desc limit 1) feed on true
