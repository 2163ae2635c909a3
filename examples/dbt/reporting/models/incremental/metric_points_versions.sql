-- Made by "npm run docs".
-- Every version of metric_points, kept up to date by the change feed. A run reads only the versions of keys that changed since the
-- last one; commits become visible in the order of the feed, so that none is missed. A cursor that is older than changes.keep is
-- refused: then run once with --full-refresh.
{{ config(materialized='incremental', unique_key='version_id') }}
select versions.*, feed.cursor as feed_cursor
from {{ source('reporting', 'metric_points_history') }} versions
{% if is_incremental() %}
join (
  select distinct (key ->> 'chain_id')::text as chain_id, (key ->> 'metric')::text as metric, (key ->> 'time_interval')::text as time_interval, (key ->> 'bucket_start')::timestamptz as bucket_start
  from reporting.changes((
    select feed_cursor from {{ this }} order by split_part(feed_cursor, '.', 1)::bigint desc nulls last limit 1), 2147483647)
  where dataset = 'metric_points'
  union
  select chain_id, metric, time_interval, bucket_start from {{ source('reporting', 'metric_points_history') }} where not exists (select from {{ this }})) changed using (chain_id, metric, time_interval, bucket_start)
{% endif %}
left join (select cursor from reporting.change_commits order by commit_number desc limit 1) feed on true
