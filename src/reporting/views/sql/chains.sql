create or replace view reporting.chains as
with recorded as (
  select distinct t.target ->> 'chainId' as chain_id from recorder.targets t where t.target ? 'chainId'
),
listed as (
  -- Two blockchains may have the same EVM chain id. The older blockchain is listed.
  select distinct on (trim_scale(b.evm_chain_id)) trim_scale(b.evm_chain_id)::text as chain_id, b.network, b.blockchain_id, b.subnet_id,
    b.blockchain_name, b.vm_id
  from reporting.blockchains b
  where b.evm_chain_id is not null
  order by trim_scale(b.evm_chain_id), b.create_block_timestamp, b.blockchain_id
),
tokens as (
  select n.chain_id, min(n.symbol) as symbol from reporting.native_balances n group by n.chain_id
)
select chain_id, l.network, l.blockchain_id, l.subnet_id, l.blockchain_name as name, t.symbol as token_symbol, l.vm_id,
  r.chain_id is not null as is_recorded
from recorded r
full join listed l using (chain_id)
left join tokens t using (chain_id);

comment on view reporting.chains is 'The EVM chains that are recorded or listed as blockchains, one row per chain id.';
comment on column reporting.chains.chain_id is 'The chain id, as in every dataset of EVM chains.'; -- text
comment on column reporting.chains.network is 'The network of the blockchain. Null: the blockchain is not listed.'; -- text
comment on column reporting.chains.blockchain_id is 'The blockchain. Null: the blockchain is not listed.'; -- text
comment on column reporting.chains.subnet_id is 'The subnet that validates the blockchain. Null: the blockchain is not listed.'; -- text
comment on column reporting.chains.name is 'Name of the blockchain. Null: the blockchain is not listed.'; -- text
comment on column reporting.chains.token_symbol is 'Symbol of the native token. Null: no native balance of the chain is recorded.'; -- text
comment on column reporting.chains.vm_id is 'The virtual machine. Null: the blockchain is not listed.'; -- text
comment on column reporting.chains.is_recorded is 'True if a dataset of the chain is or was configured.'; -- boolean
