-- Made by "npm run docs".
-- Every version of proposed_blocks, kept up to date by the change feed. A run reads only the versions of keys that changed since the
-- last one; commits become visible in the order of the feed, so that none is missed. A cursor that is older than changes.keep is
-- refused: then run once with --full-refresh.
{{ config(materialized='incremental', unique_key='version_id') }}
select versions.*, feed.cursor as feed_cursor
from {{ source('reporting', 'proposed_blocks_history') }} versions
{% if is_incremental() %}
join (
  select distinct (key ->> 'network')::text as network, (key ->> 'blockchain_id')::text as blockchain_id, (key ->> 'block_hash')::text as block_hash
  from reporting.changes((
    select feed_cursor from {{ this }} order by split_part(feed_cursor, '.', 1)::bigint desc nulls last limit 1), 2147483647)
  where dataset = 'proposed_blocks'
  union
  select network, blockchain_id, block_hash from {{ source('reporting', 'proposed_blocks_history') }} where not exists (select from {{ this }})) changed using (network, blockchain_id, block_hash)
{% endif %}
left join (select cursor from reporting.change_commits order by commit_number desc limit 1) feed on true
