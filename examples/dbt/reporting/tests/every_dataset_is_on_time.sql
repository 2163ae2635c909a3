-- Datasets of which something was not recorded for longer than it should be.
select dataset, late, oldest_success_at from {{ source('reporting', 'freshness_by_dataset') }} where late > 0
