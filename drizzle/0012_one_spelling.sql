-- `0x…` has one spelling, lower case: what was recorded in others is brought over, and where the same thing was recorded
-- in two spellings they become one. Ids in base58 are kept.
create function pg_temp.lowered(value text) returns text language sql immutable as
  $$ select case when value ~ '^0x[0-9a-fA-F]*$' then lower(value) else value end $$;
--> statement-breakpoint
create function pg_temp.lowered_key(target_key text) returns text language sql immutable as
  $$ select string_agg(case when part ~ '=0x[0-9a-fA-F]*$'
       then substr(part, 1, strpos(part, '=')) || lower(substr(part, strpos(part, '=') + 1)) else part end, ' ' order by at)
     from unnest(string_to_array(target_key, ' ')) with ordinality as u(part, at) $$;
--> statement-breakpoint
-- A list with its elements' texts at some paths (`from.address`) lowered.
create function pg_temp.lowered_list(list jsonb, paths text[]) returns jsonb language plpgsql immutable as $$
declare
  element jsonb;
  path text;
  result jsonb := '[]';
begin
  if jsonb_typeof(list) is distinct from 'array' then return list; end if;
  for element in select jsonb_array_elements(list) loop
    foreach path in array paths loop
      if jsonb_typeof(element #> string_to_array(path, '.')) = 'string' then
        element := jsonb_set(element, string_to_array(path, '.'),
          to_jsonb(pg_temp.lowered(element #>> string_to_array(path, '.'))));
      end if;
    end loop;
    result := result || jsonb_build_array(element);
  end loop;
  return result;
end $$;
--> statement-breakpoint
-- Members whose versions were recorded in two spellings: at every moment the version that began last is the one that
-- held, and equal neighbours are one version.
create function pg_temp.merge_members(dataset text, key text[], hex text[]) returns void language plpgsql as $$
declare
  low text := (select string_agg(format('%1$I = pg_temp.lowered(%1$I)', name), ', ') from unnest(hex) as name);
  keys text := (select string_agg(format('coalesce(%s, '''')',
    case when name = any(hex) then format('pg_temp.lowered(t.%I)', name) else format('t.%I::text', name) end), ', ') from unnest(key) as name);
  raw text := (select string_agg(format('t.%I', name), ', ') from unnest(key) as name where name = any(hex));
begin
  if raw is null then return; end if;
  execute format('create temp table merging as
    select t.*, jsonb_build_array(%s) as merge_key from recorder.%I t
    where jsonb_build_array(%s) in (
      select jsonb_build_array(%s) from recorder.%I t group by 1 having count(distinct row(%s)) > 1)', keys, dataset, keys, keys, dataset, raw);
  execute format('delete from recorder.%I t where jsonb_build_array(%s) in (select merge_key from merging)', dataset, keys);
  execute format('update merging set %s', low);
  execute format($q$
    insert into recorder.%1$I
    with version as (
      select merge_key, valid_from, valid_to, run_id, ended_by,
        to_jsonb(m) - '{merge_key,valid_from,valid_to,run_id,ended_by,missed_looks,missed_from}'::text[] as content from merging m
    ), bound as (
      select merge_key, valid_from as at from version union select merge_key, valid_to from version where valid_to is not null
    ), segment as (
      select merge_key, at as begins, lead(at) over (partition by merge_key order by at) as ends from bound
    ), held as (
      select s.*, v.content, v.run_id, v.ended_by from segment s join lateral (
        select * from version v where v.merge_key = s.merge_key and v.valid_from <= s.begins
          and (v.valid_to is null or v.valid_to > s.begins)
        order by v.valid_from desc, v.run_id desc limit 1) v on true
    ), marked as (
      select *, (lag(content) over w = content and lag(ends) over w = begins) is not true as starts from held
      window w as (partition by merge_key order by begins)
    ), numbered as (
      select *, count(*) filter (where starts) over (partition by merge_key order by begins) as island from marked
    ), merged as (
      select merge_key, island, min(begins) as valid_from, (array_agg(ends order by begins desc))[1] as valid_to,
        (array_agg(content))[1] as content, (array_agg(run_id order by begins))[1] as run_id,
        (array_agg(ended_by order by begins desc))[1] as ended_by
      from numbered group by merge_key, island
    )
    select (jsonb_populate_record(null::recorder.%1$I, content || jsonb_build_object('valid_from', valid_from,
      'valid_to', valid_to, 'run_id', run_id, 'ended_by', case when valid_to is null then null
        when lead(valid_from) over (partition by merge_key order by valid_from) = valid_to then 'changed'
        else coalesce(nullif(ended_by, 'changed'), 'gone') end))).*
    from merged$q$, dataset);
  drop table merging;
end $$;
--> statement-breakpoint
do $$
declare
  one record;
  keys text;
  hex text[];
  low text;
  differs text;
begin
  for one in select * from (values
    ('staking_transactions', 'log', '{network,tx_hash}', '{tx_hash,block_hash,reward_tx_hash,staking_tx_hash,l1_validator_manager_details_contract_address,bls_credentials_public_key,bls_credentials_proof_of_possession,memo}'),
    ('subnets', 'state', '{subnet_id}', '{l1_conversion_transaction_hash,l1_validator_manager_details_contract_address}'),
    ('pending_rewards', 'state', '{network,tx_hash,reward_type}', '{tx_hash}'),
    ('pending_reward_progress', 'sample', '{network,tx_hash,reward_type,observed_at}', '{tx_hash}'),
    ('proposed_blocks', 'log', '{network,blockchain_id,block_hash}', '{block_hash,parent_hash}'),
    ('native_transactions', 'log', '{chain_id,address,tx_hash}', '{address,tx_hash,block_hash,from_address,to_address,method_hash}'),
    ('erc1155_transfers', 'log', '{chain_id,address,tx_hash,log_index,token_id}', '{address,tx_hash,block_hash,from_address,to_address,erc1155_token_address}'),
    ('native_balances', 'state', '{chain_id,address}', '{address}'),
    ('native_balance_values', 'sample', '{chain_id,address,observed_at}', '{address}'),
    ('erc1155_balances', 'state', '{chain_id,address,contract,token_id}', '{address,contract}'),
    ('deployed_contracts', 'state', '{chain_id,deployer,address}', '{deployer,address,deployment_details_tx_hash,deployment_details_deployer_address,deployment_details_deployer_contract_address}'),
    ('deployment_transactions', 'log', '{chain_id,address}', '{address,tx_hash,block_hash,from_address,to_address,method_hash,input,teleporter_message_id}'),
    ('evm_transactions', 'log', '{chain_id,tx_hash}', '{tx_hash,block_hash,from_address,to_address,method_hash,input,teleporter_message_id}'),
    ('nft_tokens', 'state', '{chain_id,collection,token_id}', '{collection,owner_address}'),
    ('aggregated_signatures', 'log', '{network,request}', '{signed_message,tx_hash,message,justification}'),
    ('validators', 'state', '{}', '{public_key,signer_public_key,signer_proof_of_possession}'),
    ('p_blocks', 'log', '{}', '{bytes}'),
    ('x_blocks', 'log', '{}', '{bytes}'),
    ('x_transactions', 'log', '{}', '{unsigned_tx_memo,bytes}'),
    ('x_utxos', 'state', '{}', '{utxo}'),
    ('node_identity', 'state', '{}', '{node_pop_public_key,node_pop_proof_of_possession}')
  ) as u(dataset, history, key, hex) loop
    hex := one.hex::text[];
    if one.history = 'state' then
      perform pg_temp.merge_members(one.dataset, one.key::text[], hex);
    elsif exists (select from unnest(one.key::text[]) as name where name = any(hex)) then
      -- What was recorded first stays.
      keys := (select string_agg(case when name = any(hex) then format('pg_temp.lowered(%I)', name) else format('%I', name) end, ', ')
        from unnest(one.key::text[]) as name);
      execute format('delete from recorder.%1$I where ctid in (select ctid from (
        select ctid, row_number() over (partition by %2$s order by run_id) as nth from recorder.%1$I) ranked where nth > 1)', one.dataset, keys);
    end if;
    low := (select string_agg(format('%1$I = pg_temp.lowered(%1$I)', name), ', ') from unnest(hex) as name);
    differs := (select string_agg(format('%1$I ~ ''^0x[0-9a-fA-F]*[A-F]''', name), ' or ') from unnest(hex) as name);
    execute format('update recorder.%I set %s where %s', one.dataset, low, differs);
  end loop;
  for one in select * from (values
    ('staking_transactions', 'consumed_utxos', '{txHash,consumingTxHash,utxoBytes}'),
    ('staking_transactions', 'emitted_utxos', '{txHash,consumingTxHash,utxoBytes}'),
    ('staking_transactions', 'l1_validator_details', '{blsCredentials.publicKey,blsCredentials.proofOfPossession}'),
    ('deployment_transactions', 'erc20_transfers', '{from.address,to.address,erc20Token.address}'),
    ('deployment_transactions', 'erc721_transfers', '{from.address,to.address,erc721Token.address,erc721Token.ownerAddress}'),
    ('deployment_transactions', 'erc1155_transfers', '{from.address,to.address,erc1155Token.address}'),
    ('deployment_transactions', 'internal_transactions', '{from.address,to.address}'),
    ('evm_transactions', 'erc20_transfers', '{from.address,to.address,erc20Token.address}'),
    ('evm_transactions', 'erc721_transfers', '{from.address,to.address,erc721Token.address,erc721Token.ownerAddress}'),
    ('evm_transactions', 'erc1155_transfers', '{from.address,to.address,erc1155Token.address}'),
    ('evm_transactions', 'internal_transactions', '{from.address,to.address}')
  ) as u(dataset, list, paths) loop
    execute format('update recorder.%1$I set %2$I = pg_temp.lowered_list(%2$I, %3$L) where %2$I::text ~ ''"0x[0-9a-fA-F]*[A-F]''',
      one.dataset, one.list, one.paths);
  end loop;
end $$;
--> statement-breakpoint
-- Of a target in two spellings one row is left; coverage is what both covered, and a gap is what neither did.
create temp table respelt as
  select distinct target_key as was, pg_temp.lowered_key(target_key) as is_now from (
    select target_key from recorder.targets union select target_key from recorder.target_datasets
    union select target_key from recorder.coverage union select target_key from recorder.gaps
    union select target_key from recorder.run_days union select target_key from recorder.quarantine
    union select target_key from recorder.runs) known
  where target_key <> pg_temp.lowered_key(target_key);
--> statement-breakpoint
insert into recorder.targets (source, target_key, target, recorder)
  select t.source, r.is_now, (select jsonb_object_agg(name, pg_temp.lowered(value)) from jsonb_each_text(t.target) as u(name, value)), t.recorder
  from recorder.targets t join respelt r on r.was = t.target_key on conflict do nothing;
--> statement-breakpoint
delete from recorder.targets t using respelt r where t.target_key = r.was;
--> statement-breakpoint
create temp table known_datasets as select t.*, coalesce(r.is_now, t.target_key) as is_now
  from recorder.target_datasets t left join respelt r on r.was = t.target_key
  where coalesce(r.is_now, t.target_key) in (select is_now from respelt);
--> statement-breakpoint
delete from recorder.target_datasets t using known_datasets k where t.source = k.source and t.target_key = k.target_key;
--> statement-breakpoint
insert into recorder.target_datasets (source, target_key, dataset, every_ms, once, active, left_at, ended_at, wanted_at, expected_from,
    last_success_at, last_complete_at, incomplete_since, incomplete_reason, last_failure_at, failures, last_error, items, rows_written,
    rows_day, rows_today, not_offered)
  select distinct on (source, is_now, dataset) source, is_now, dataset, every_ms, once, bool_or(active) over w,
    case when not bool_or(active) over w then left_at end, case when not bool_or(active) over w then ended_at end,
    min(wanted_at) over w, min(expected_from) over w, max(last_success_at) over w, max(last_complete_at) over w, incomplete_since,
    incomplete_reason, last_failure_at, failures, last_error, sum(items) over w, sum(rows_written) over w, rows_day, rows_today, not_offered
  from known_datasets window w as (partition by source, is_now, dataset)
  order by source, is_now, dataset, active desc, last_success_at desc nulls last;
--> statement-breakpoint
insert into recorder.coverage (dataset, target_key, axis, covered)
  select c.dataset, r.is_now, c.axis, range_agg(c.covered) from recorder.coverage c join respelt r on r.was = c.target_key
  group by c.dataset, r.is_now, c.axis
  on conflict (dataset, target_key) do update set covered = coverage.covered + excluded.covered;
--> statement-breakpoint
delete from recorder.coverage c using respelt r where c.target_key = r.was;
--> statement-breakpoint
create temp table known_gaps as
  select g.dataset, coalesce(r.is_now, g.target_key) as target_key, g.axis, g.range, g.reason, g.noticed_at
  from recorder.gaps g left join respelt r on r.was = g.target_key
  where coalesce(r.is_now, g.target_key) in (select is_now from respelt);
--> statement-breakpoint
delete from recorder.gaps g where g.target_key in (select was from respelt union select is_now from respelt);
--> statement-breakpoint
insert into recorder.gaps (dataset, target_key, axis, range, reason, noticed_at)
  select g.dataset, g.target_key, g.axis, part, g.reason, g.noticed_at from known_gaps g
  left join recorder.coverage c on c.dataset = g.dataset and c.target_key = g.target_key
  cross join lateral unnest(int8multirange(g.range) - coalesce(c.covered, '{}')) as part
  on conflict do nothing;
--> statement-breakpoint
insert into recorder.run_days (span, starts_on, dataset, target_key, reason, runs, failed, lost, pages, items, requests, budget_units, quarantined)
  select d.span, d.starts_on, d.dataset, r.is_now, d.reason, sum(d.runs), sum(d.failed), sum(d.lost), sum(d.pages), sum(d.items),
    sum(d.requests), sum(d.budget_units), sum(d.quarantined)
  from recorder.run_days d join respelt r on r.was = d.target_key group by 1, 2, 3, 4, 5
  on conflict (span, starts_on, dataset, target_key, reason) do update set runs = run_days.runs + excluded.runs,
    failed = run_days.failed + excluded.failed, lost = run_days.lost + excluded.lost, pages = run_days.pages + excluded.pages,
    items = run_days.items + excluded.items, requests = run_days.requests + excluded.requests,
    budget_units = run_days.budget_units + excluded.budget_units, quarantined = run_days.quarantined + excluded.quarantined;
--> statement-breakpoint
delete from recorder.run_days d using respelt r where d.target_key = r.was;
--> statement-breakpoint
update recorder.runs u set target_key = r.is_now from respelt r where u.target_key = r.was;
--> statement-breakpoint
-- Of an item that is kept for both spellings, the older row stays and counts the other.
update recorder.quarantine q set times = q.times + other.times, last_seen = greatest(q.last_seen, other.last_seen),
    run_id = greatest(q.run_id, other.run_id)
  from (select min(id) as id, sum(times) - (array_agg(times order by id))[1] as times, max(last_seen) as last_seen, max(run_id) as run_id
    from recorder.quarantine group by dataset, pg_temp.lowered_key(target_key), digest having count(*) > 1) other
  where q.id = other.id;
--> statement-breakpoint
delete from recorder.quarantine where id not in (
  select min(id) from recorder.quarantine group by dataset, pg_temp.lowered_key(target_key), digest);
--> statement-breakpoint
update recorder.quarantine q set target_key = r.is_now from respelt r where q.target_key = r.was;
--> statement-breakpoint
drop table respelt, known_datasets, known_gaps;
