-- How many validators a node saw come and go, by day (UTC): neither a change nor the first look at a list is an arrival, and a
-- member that was not watched for a while did not go.
select node, subnet_id, cast(moment at time zone 'UTC' as date) as day, sum(came) as came, sum(went) as went
from (
  select node, subnet_id, valid_from as moment, 1 as came, 0 as went
  from (
    select node, subnet_id, valid_from, min(valid_from) over (partition by node, subnet_id) as first_look,
      lag(ended_by) over (partition by node, subnet_id, node_id, start_time, tx_id, validation_id order by valid_from) as before_ended_by
    from {{ ref('stg_node_validators') }}) versions
  where valid_from > first_look and (before_ended_by is null or before_ended_by = 'gone')
  union all
  select node, subnet_id, valid_to, 0, 1 from {{ ref('stg_node_validators') }} where ended_by = 'gone') movements
group by 1, 2, 3
