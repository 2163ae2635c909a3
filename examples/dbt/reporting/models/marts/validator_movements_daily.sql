-- How many validators a node saw come and go, by day (UTC): a version that ends because it changed is neither.
select node, subnet_id, date_trunc('day', moment) as day, sum(came) as came, sum(went) as went
from (
  select node, subnet_id, valid_from as moment,
    case when lag(ended_by) over (partition by node, subnet_id, node_id, start_time, tx_id, validation_id order by valid_from) = 'changed'
      then 0 else 1 end as came, 0 as went
  from {{ ref('stg_validators') }}
  union all
  select node, subnet_id, valid_to, 0, 1 from {{ ref('stg_validators') }} where ended_by = 'gone') movements
group by 1, 2, 3
