-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('health_absences ' || length(observer) || ':' || observer || epoch_us(started_at) || ',')::uuid as version_id, observer, started_at, ended_at, reason
from {{ source('lake', 'health_absences') }}
qualify row_number() over (partition by observer, started_at order by exported_at desc) = 1
