-- Datasets of which something was not recorded for longer than it should be.
select dataset, late, oldest_success_at from {{ source('reporting', 'recording_freshness') }} where late > 0
