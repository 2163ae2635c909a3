-- A version of a member ends before the next one begins.
select * from (
  select node, subnet_id, node_id, valid_to,
    lead(valid_from) over (partition by node, subnet_id, node_id, start_time, tx_id, validation_id order by valid_from) as next_from
  from {{ ref('stg_node_validators') }}) versions
where next_from is not null and (valid_to is null or valid_to > next_from)
