import { describe, expect, it } from 'vitest';
import { recorded, recordedNamed } from '../../src/reporting/recorded-datasets.ts';

/** Every operation of the services that the recorder covers. */
const services: Readonly<Record<string, readonly string[]>> = {
  'the chain data service': [
    'POST /v1/signatureAggregator/{network}/aggregateSignatures',
    'GET /v1/signatureAggregator/{network}/aggregateSignatures/{txHash}',
    'GET /v1/networks/{network}/blockchains/{blockchainId}/transactions:listStaking',
    'GET /v1/chains/{chainId}/contracts/{address}/transactions:getDeployment',
    'GET /v1/networks/{network}/subnets',
    'GET /v1/networks/{network}/blockchains/{blockchainId}/balances',
    'GET /v1/chains/{chainId}/addresses/{address}/transactions:listErc1155',
    'GET /v1/chains/{chainId}/addresses/{address}/transactions:listNative',
    'GET /v1/chains/{chainId}/addresses/{address}/balances:listErc1155',
    'GET /v1/networks/{network}/rewards:listPending',
    'GET /v1/chains/{chainId}/contracts/{address}/deployments',
    'GET /v1/chains/{chainId}/nfts/collections/{address}/tokens',
    'GET /v1/chains/{chainId}/addresses/{address}/balances:getNative',
    'GET /v1/chains/{chainId}/transactions/{txHash}',
    'GET /v1/networks/{network}/blockchains/{blockchainId}/nodes/{nodeId}/blocks',
    'GET /v1/chains/{chainId}/nfts/collections/{address}/tokens/{tokenId}',
  ],
  'the metrics service': ['GET /v2/chains/{chainId}/metrics/{metric}', 'GET /v1/avg_tps/{chainId}'],
  "a node's X-chain": [
    'avm.getAllBalances',
    'avm.getAssetDescription',
    'avm.getBalance',
    'avm.getBlock',
    'avm.getBlockByHeight',
    'avm.getHeight',
    'avm.getTx',
    'avm.getTxFee',
    'avm.getTxStatus',
    'avm.getUTXOs',
  ],
  "a node's info": [
    'info.acps',
    'info.isBootstrapped',
    'info.getBlockchainID',
    'info.getNetworkID',
    'info.getNetworkName',
    'info.getNodeID',
    'info.getNodeIP',
    'info.getNodeVersion',
    'info.getTxFee',
    'info.getVMs',
    'info.peers',
    'info.uptime',
    'info.upgrades',
  ],
  "a node's P-chain": [
    'platform.getBalance',
    'platform.getBlock',
    'platform.getBlockByHeight',
    'platform.getBlockchains',
    'platform.getBlockchainStatus',
    'platform.getCurrentSupply',
    'platform.getCurrentValidators',
  ],
  "a node's health": [
    'GET /ext/health',
    'GET /ext/health/health',
    'GET /ext/health/readiness',
    'GET /ext/health/liveness',
    'health.health',
    'health.readiness',
    'health.liveness',
  ],
};

describe.each(Object.entries(services))('%s', (_, operations) => {
  it.each(operations)('%s is recorded', (operation) => {
    expect(recorded.filter((dataset) => dataset.operations.includes(operation))).not.toEqual([]);
  });
});

it('no dataset names an operation that the services do not offer', () => {
  const known = Object.values(services).flat();
  expect(known).toHaveLength(16 + 2 + 10 + 13 + 7 + 7);
  expect(recorded.flatMap(({ operations }) => operations).filter((one) => !known.includes(one))).toEqual([]);
});

/** Kind and natural key of the datasets. */
const contract: readonly (readonly [name: string, kind: string, key: string])[] = [
  ['metric_points', 'series', 'chain_id metric time_interval bucket_start'],
  ['average_tps', 'series', 'chain_id bucket_start'],
  ['staking_transactions', 'log', 'network tx_hash'],
  ['subnets', 'state', 'subnet_id'],
  ['blockchains', 'state', 'blockchain_id'],
  [
    'primary_balances',
    'state',
    'network blockchain_id addresses balance_group asset_id shared_with_chain_id',
  ],
  ['pending_rewards', 'state', 'network tx_hash reward_type'],
  ['proposed_blocks', 'log', 'network blockchain_id block_hash'],
  ['native_transactions', 'log', 'chain_id address tx_hash'],
  ['erc1155_transfers', 'log', 'chain_id address tx_hash log_index token_id'],
  ['native_balances', 'state', 'chain_id address'],
  ['erc1155_balances', 'state', 'chain_id address contract token_id'],
  ['deployed_contracts', 'state', 'chain_id deployer address'],
  ['deployment_transactions', 'log', 'chain_id address'],
  ['evm_transactions', 'log', 'chain_id tx_hash'],
  ['nft_tokens', 'state', 'chain_id collection token_id'],
  // tx_hash or request digest: one column holds either.
  ['aggregated_signatures', 'log', 'network request'],
  // tx_id or validation_id: each kind of validator has one of them.
  ['validators', 'state', 'node subnet_id node_id start_time tx_id validation_id'],
  ['validator_delegators', 'state', 'node subnet_id node_id start_time tx_id'],
  // The instant belongs to the key of every reading: its index has it.
  ['validator_uptime', 'sample', 'node subnet_id node_id'],
  ['p_blocks', 'log', 'node height'],
  ['x_blocks', 'log', 'node height'],
  ['x_transactions', 'log', 'node tx_id'],
  ['x_assets', 'state', 'node asset_id'],
  ['x_utxos', 'state', 'node address utxo_id'],
  ['x_balances', 'state', 'node address asset_id'],
  ['p_balances', 'state', 'node address asset_id'],
  ['node_blockchains', 'state', 'node blockchain_id'],
  // A node has several chains.
  ['chain_heights', 'sample', 'node chain'],
  ['current_supply', 'sample', 'node subnet_id'],
  ['node_identity', 'state', 'node'],
  ['fees', 'state', 'node'],
  ['upgrades', 'state', 'node'],
  ['proposals', 'state', 'node proposal'],
  ['peers', 'state', 'node node_id'],
  ['peer_readings', 'sample', 'node node_id subnet_id'],
  ['node_reported_uptime', 'sample', 'node subnet_id'],
  ['node_health', 'ledger', 'observer node probe check_name'],
];

describe('the contract', () => {
  it.each(contract)('has %s: %s by %s', (name, kind, key) => {
    const dataset = recordedNamed(name);
    expect([dataset?.history, dataset?.key.join(' ')]).toEqual([kind, key]);
  });

  it('goes beyond it only where a reading or a content stands on its own', () => {
    const promised = contract.map(([name]) => name);
    expect(recorded.map(({ name }) => name).filter((name) => !promised.includes(name))).toEqual([
      'genesis_data',
      'pending_reward_progress',
      'native_balance_values',
    ]);
  });
});
