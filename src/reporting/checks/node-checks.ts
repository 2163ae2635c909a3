import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { discrepancySql, type Ending } from './check-columns.ts';
import type { CheckName } from './rules.ts';

/** A comparison of the nodes with each other and with the data service, over all targets at once. */
export interface NodeComparison {
  readonly names: readonly CheckName[];
  /**
   * $1: the time of the check. $2, in some statements: the start of the readings to compare. If $2 is null,
   * all readings and all blocks are compared; otherwise only new readings and the newest blocks.
   */
  readonly statement: string;
}

/**
 * Minimum duration of a difference between nodes. Nodes process changes of the chain at different times and
 * are polled minutes apart.
 */
const MIN_NODE_DIFFERENCE = `interval '1 hour'`;
/**
 * Minimum duration of a difference between the data service and a node. The service is polled once an hour
 * and lags.
 */
const MIN_SERVICE_DIFFERENCE = `interval '3 hours'`;
/** Maximum lag of a node that is no discrepancy. */
const MAX_LAG = `interval '30 minutes'`;
/**
 * Number of blocks below the newest block that are compared again. The first comparison compares all blocks.
 */
const RECHECKED_BLOCKS = 100_000;

/**
 * Returns SQL of the targets of a dataset whose last observation was complete. In an incomplete observation,
 * a missing entry proves nothing.
 */
const whole = (
  dataset: string,
) => `${tableText(targetDatasets)} d join ${tableText(targets)} t using (source, target_key)
      where d.dataset = '${dataset}' and d.active and d.last_complete_at is not null and d.incomplete_since is null`;

const blocks = (table: string, chain: string) => ({
  cte: `${table}_seen as materialized (
      select b.node, b.height, b.id, b.time, b.valid_from
      from recorder.${table} b
      where b.id is not null and b.valid_to is null and ($2::timestamptz is null or b.height >= (
        select min(top.height) from (select distinct t.target ->> 'node' as node from ${tableText(targets)} t
          join ${tableText(targetDatasets)} d using (source, target_key) where d.dataset = '${table}') known
        cross join lateral (select max(h.height) as height from recorder.${table} h where h.node = known.node) top) - ${RECHECKED_BLOCKS}))`,
  select: `select 'block_ids', '${table}', 'blockchain_id=${chain} node=' || b.node || ' height=' || b.height || ' against=nodes', coalesce(b.time, b.valid_from),
        'nodes ' || most.nodes, most.id, 'node ' || b.node, b.id, false
      from (select height from ${table}_seen group by height having count(distinct id) > 1) h
      cross join lateral (
        select id, string_agg(node, ', ' order by node) as nodes from ${table}_seen s where s.height = h.height
        group by id order by count(*) desc, min(node) limit 1) most
      join ${table}_seen b on b.height = h.height and b.id <> most.id
    union all
      select 'block_ids', 'proposed_blocks', 'blockchain_id=${chain} node=' || b.node || ' height=' || b.height || ' against=data', p.block_timestamp,
        'data service', p.block_hash, 'node ' || b.node, b.id, false
      from ${table}_seen b
      join recorder.proposed_blocks p on p.blockchain_id = '${chain}' and p.block_number = b.height and p.block_hash <> b.id
        and p.valid_to is null`,
});
const pBlocks = blocks('p_blocks', 'p-chain');
const xBlocks = blocks('x_blocks', 'x-chain');

/** SQL of a CTE with all readings of heights: chain_heights and, for the P-chain, current_supply. */
const HEIGHTS = `heights as materialized (
      select 'chain_heights' as dataset, node, lower(chain) || '-chain' as blockchain_id, observed_at, height
      from reporting.chain_heights where observed_at >= coalesce($2::timestamptz, '-infinity')
      union all
      select 'current_supply', node, 'p-chain', observed_at, height
      from reporting.node_current_supply where height is not null and observed_at >= coalesce($2::timestamptz, '-infinity'))`;

const heightFalls = `select 'height_falls', dataset, 'node=' || node || ' blockchain_id=' || blockchain_id, observed_at,
        'reading before', height_before::text, 'reading', height::text, false
      from (select *, lag(height) over (partition by dataset, node, blockchain_id order by observed_at) as height_before
        from heights) h
      where height < height_before`;

/**
 * SQL of the last reading of each node, and of the first source that had a greater height at least {@link
 * MAX_LAG} before that reading.
 */
const heightBehind = `select 'height_behind', h.dataset, 'node=' || h.node || ' blockchain_id=' || h.blockchain_id, ahead.at,
        ahead.source, ahead.height::text, 'node ' || h.node, h.height::text, false
      from (select distinct on (dataset, node, blockchain_id) * from heights
        order by dataset, node, blockchain_id, observed_at desc) h
      join (select distinct d.dataset, t.target ->> 'node' as node from ${tableText(targetDatasets)} d
        join ${tableText(targets)} t using (source, target_key) where d.active) watched using (dataset, node)
      cross join lateral (
        select source, height, at from (
          select 'node ' || o.node as source, o.height, o.observed_at as at from heights o
          where o.dataset = h.dataset and o.blockchain_id = h.blockchain_id and o.node <> h.node
            and o.height > h.height and o.observed_at <= h.observed_at - ${MAX_LAG}
          union all
          select 'data service', p.block_number, p.block_timestamp from recorder.proposed_blocks p
          where p.valid_to is null and p.blockchain_id = h.blockchain_id and p.block_number > h.height
            and p.block_timestamp <= h.observed_at - ${MAX_LAG}) more
        order by at limit 1) ahead`;

/** Returns an SQL condition: two rows belong to the same validation. */
const sameValidation = (left: string, right: string) =>
  `(${left}.subnet_id, ${left}.node_id, ${left}.start_time, coalesce(${left}.tx_id, ''), coalesce(${left}.validation_id, ''))
        = (${right}.subnet_id, ${right}.node_id, ${right}.start_time, coalesce(${right}.tx_id, ''), coalesce(${right}.validation_id, ''))`;
const validation = (row: string) =>
  `' subnet_id=' || ${row}.subnet_id || ' node_id=' || ${row}.node_id || ' validation=' || coalesce(${row}.tx_id, ${row}.validation_id, '')`;

const LISTS = `lists as materialized (
      select t.target ->> 'node' as node, t.target ->> 'subnetId' as subnet_id, d.last_complete_at as requested_at,
        (select min(v.valid_from) from recorder.validators v
          where v.node = t.target ->> 'node' and v.subnet_id = t.target ->> 'subnetId') as began_at
      from ${whole('validators')})`;
const LISTED = `listed as materialized (
      select v.*, l.requested_at from recorder.validators v join lists l using (node, subnet_id) where v.valid_to is null)`;

/** Returns SQL of the time since when a validator is continuously in a node's list. */
const listedSince = (row: string) => `(select max(o.valid_from) from recorder.validators o
        where o.node = ${row}.node and ${sameValidation('o', row)} and not exists (
          select from recorder.validators e where e.node = o.node and ${sameValidation('e', 'o')} and e.valid_to = o.valid_from))`;

const validatorLists = `select 'validator_lists', 'validators', 'node=' || lacks.node || ${validation('v')},
        greatest(lacks.missing_since, min(v.since)), 'nodes ' || string_agg(v.node, ', ' order by v.node), 'listed, weight ' || max(v.weight),
        'node ' || lacks.node, 'not listed', false
      from (
        select v.node, v.subnet_id, v.node_id, v.start_time, v.tx_id, v.validation_id, v.weight, v.requested_at, l.node as lacking,
          l.requested_at as lacking_requested_at, ${listedSince('v')} as since,
          coalesce((select max(o.valid_to) from recorder.validators o where o.node = l.node and ${sameValidation('o', 'v')}),
            l.began_at) as missing_since
        from listed v
        join lists l on l.subnet_id = v.subnet_id and l.node <> v.node
        where not exists (select from listed o where o.node = l.node and ${sameValidation('o', 'v')})) v
      cross join lateral (select v.lacking as node, v.missing_since) lacks
      where greatest(v.since, v.missing_since) + ${MIN_NODE_DIFFERENCE} <= least(v.requested_at, v.lacking_requested_at)
      group by lacks.node, lacks.missing_since, v.subnet_id, v.node_id, v.start_time, v.tx_id, v.validation_id`;

const TERMS = ['weight', 'end_time', 'potential_reward', 'delegator_weight'];

const validatorTerms = `select 'validator_terms', 'validators', 'node=' || v.node || ${validation('v')} || ' field=' || v.term, stable.since,
        'nodes ' || most.nodes, most.value, 'node ' || v.node, v.value, false
      from (
        select v.*, term, to_jsonb(v) ->> term as value
        from listed v, unnest('{${TERMS.join(',')}}'::text[]) as term
        where exists (select from listed o where ${sameValidation('o', 'v')}
          and to_jsonb(o) ->> term is distinct from to_jsonb(v) ->> term)) v
      cross join lateral (
        select to_jsonb(o) ->> v.term as value, string_agg(o.node, ', ' order by o.node) as nodes
        from listed o where ${sameValidation('o', 'v')} and to_jsonb(o) ->> v.term is not null
        group by 1 order by count(*) desc, min(o.node) limit 1) most
      cross join lateral (
        -- The time since which the value of no node has changed.
        select max(coalesce((select max(e.valid_to) from recorder.validators e
            where e.node = o.node and ${sameValidation('e', 'o')} and to_jsonb(e) ->> v.term is distinct from to_jsonb(o) ->> v.term),
          ${listedSince('o')})) as since, min(o.requested_at) as requested_at
        from listed o where ${sameValidation('o', 'v')}) stable
      where v.value <> most.value and stable.since + ${MIN_NODE_DIFFERENCE} <= stable.requested_at`;

/**
 * SQL of a CTE with the validations and delegations that nodes currently list. The node, end and stake of a
 * transaction never change.
 */
const STAKED = `staked as materialized (
      select 'validators' as dataset, v.node, v.tx_id, v.node_id, v.end_time, v.stake_navax, v.valid_from, l.requested_at
      from recorder.validators v join lists l using (node, subnet_id) where v.valid_to is null and v.tx_id is not null
      union all
      select 'validator_delegators', v.node, v.tx_id, v.node_id, v.end_time, v.stake_navax, v.valid_from, l.requested_at
      from recorder.validator_delegators v
      join (select t.target ->> 'node' as node, t.target ->> 'nodeId' as node_id, d.last_complete_at as requested_at
        from ${whole('validator_delegators')}) l using (node, node_id) where v.valid_to is null)`;
/**
 * SQL of a CTE with the validations and delegations of the data service. Only types of transactions that are
 * never renewed are compared.
 */
const SERVICE_STAKES = `service_stakes as materialized (
      select 'staking_transactions' as dataset, s.tx_hash, s.node_id, s.end_timestamp,
        (select sum((a ->> 'amount')::numeric) from jsonb_array_elements(
          case jsonb_typeof(s.amount_staked) when 'array' then s.amount_staked else '[]' end) a
          where a ->> 'amount' ~ '^\\d+$') as amount, s.valid_from as since, $1::timestamptz as requested_at
      from recorder.staking_transactions s
      where s.valid_to is null and s.tx_type in ('AddValidatorTx', 'AddPermissionlessValidatorTx', 'AddDelegatorTx', 'AddPermissionlessDelegatorTx')
      union all
      select 'pending_rewards', r.tx_hash, r.node_id, r.end_timestamp, r.amount_staked, r.valid_from,
        (select max(d.last_complete_at) from ${tableText(targetDatasets)} d where d.dataset = 'pending_rewards')
      from recorder.pending_rewards r where r.valid_to is null and r.reward_type in ('VALIDATOR', 'DELEGATOR'))`;

const validatorStakes = `select 'validator_stakes', s.dataset, 'node=' || v.node || ' tx_hash=' || s.tx_hash || ' field=' || term.name,
        greatest(s.since, v.valid_from), 'data service', term.service_value, 'node ' || v.node, term.node_value, false
      from service_stakes s
      join staked v on v.tx_id = s.tx_hash
      cross join lateral (values ('node_id', s.node_id, v.node_id), ('stake_navax', s.amount::text, v.stake_navax::text),
        ('end_time', to_char(s.end_timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
          to_char(v.end_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))) as term(name, service_value, node_value)
      where term.service_value <> term.node_value and greatest(s.since, v.valid_from) + ${MIN_SERVICE_DIFFERENCE} <= least(s.requested_at, v.requested_at)`;

/**
 * SQL of a CTE with the balance of each address by source: the sum of the data service's groups that are not
 * staked, and the whole balance of a node. On the X-chain, nodes omit locked amounts, so the sum omits locked
 * amounts, too.
 */
const BALANCE_SUMS = `balance_sums as materialized (
      select source, blockchain_id, address, asset_id, sum(amount) filter (where ended is null) as amount,
        max(greatest(valid_from, ended)) as since
      from (
        select 'data service' as source, b.blockchain_id, b.addresses as address, b.asset_id, b.amount, b.valid_from, b.valid_to as ended
        from recorder.primary_balances b
        where b.asset_id <> '' and b.balance_group = any (case b.blockchain_id when 'x-chain' then '{unlocked}'::text[]
          when 'p-chain' then '{unlockedUnstaked,lockedPlatform,lockedStakeable}' end)
        union all
        select 'node ' || node, 'x-chain', address, asset_id, balance, valid_from, valid_to from recorder.x_balances
        union all
        select 'node ' || node, 'p-chain', address, asset_id, balance, valid_from, valid_to from recorder.p_balances) every_version
      group by source, blockchain_id, address, asset_id)`;
const HOLDERS = `holders as materialized (
      select case d.dataset when 'primary_balances' then 'data service' else 'node ' || (t.target ->> 'node') end as source,
        case d.dataset when 'primary_balances' then t.target ->> 'blockchainId' when 'x_balances' then 'x-chain' else 'p-chain' end
          as blockchain_id, coalesce(t.target ->> 'addresses', t.target ->> 'address') as address, d.last_complete_at as requested_at
      from ${tableText(targetDatasets)} d join ${tableText(targets)} t using (source, target_key)
      where d.dataset in ('primary_balances', 'p_balances', 'x_balances') and d.active and d.last_complete_at is not null
        and d.incomplete_since is null)`;
const BALANCES = `balances as materialized (
      select h.source, h.blockchain_id, h.address, h.requested_at, a.asset_id, coalesce(b.amount, 0) as amount, b.since
      from holders h
      join (select distinct blockchain_id, address, asset_id from balance_sums where amount is not null) a using (blockchain_id, address)
      left join balance_sums b using (source, blockchain_id, address, asset_id))`;

const balances = `select 'balances', case b.blockchain_id when 'x-chain' then 'x_balances' else 'p_balances' end,
        'blockchain_id=' || b.blockchain_id || ' address=' || b.address || ' asset_id=' || b.asset_id || ' ' || replace(b.source, ' ', '=')
          || ' against=' || case o.source when 'data service' then 'data' else 'nodes' end,
        greatest(b.since, o.since), o.sources, trim_scale(o.amount)::text, b.source, trim_scale(b.amount)::text, false
      from balances b
      cross join lateral (
        select max(o.source) as source, 'data service' as sources, max(o.amount) as amount, max(o.since) as since,
          max(o.requested_at) as requested_at, ${MIN_SERVICE_DIFFERENCE} as min_duration
        from balances o where o.source = 'data service'
          and (o.blockchain_id, o.address, o.asset_id) = (b.blockchain_id, b.address, b.asset_id)
        having count(*) > 0
        union all
        (select min(o.source), string_agg(o.source, ', ' order by o.source), o.amount, max(o.since), min(o.requested_at), ${MIN_NODE_DIFFERENCE}
        from balances o where o.source <> 'data service'
          and (o.blockchain_id, o.address, o.asset_id) = (b.blockchain_id, b.address, b.asset_id)
        group by o.amount order by count(*) desc, min(o.source) limit 1)) o
      where b.source <> 'data service' and b.amount <> o.amount
        and greatest(b.since, o.since) + o.min_duration <= least(b.requested_at, o.requested_at)`;

function check(
  ending: Ending,
  names: readonly CheckName[],
  ctes: readonly string[],
  selects: readonly string[],
): NodeComparison {
  return {
    names,
    statement: discrepancySql(ctes, selects.join('\n    union all '), '$1::timestamptz', ending, names),
  };
}

/** All comparisons of nodes. */
export const nodeComparisons: readonly NodeComparison[] = [
  check('lasting', ['block_ids'], [pBlocks.cte, xBlocks.cte], [pBlocks.select, xBlocks.select]),
  check('lasting', ['height_falls'], [HEIGHTS], [heightFalls]),
  check('current', ['height_behind'], [HEIGHTS], [heightBehind]),
  check('current', ['validator_lists', 'validator_terms'], [LISTS, LISTED], [validatorLists, validatorTerms]),
  check('current', ['validator_stakes'], [LISTS, STAKED, SERVICE_STAKES], [validatorStakes]),
  check('current', ['balances'], [BALANCE_SUMS, HOLDERS, BALANCES], [balances]),
];
