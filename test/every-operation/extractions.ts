import { createHash } from 'node:crypto';
import { at, type Exact, listAt, membersAt, memberTexts } from './exact-json.ts';
import {
  type ExpectedIdentity,
  type Extraction,
  listing,
  mergedByNode,
  method,
  PRIMARY_NETWORK,
  together,
} from './extraction.ts';

const asset = (prefix: string, path: string) =>
  ['assetId', 'name', 'symbol', 'denomination', 'type', 'amount']
    .map((name) => `${prefix}_${name === 'assetId' ? 'asset_id' : name}:${path}.${name}`)
    .join(' ');

const address = (name: string) =>
  `${name}_address:${name}.address ${name}_name:${name}.name ${name}_symbol:${name}.symbol
  ${name}_decimals:${name}.decimals ${name}_logo_uri:${name}.logoUri`;

const metadata = (prefix: string, path: string) =>
  `${prefix}_index_status:${path}.indexStatus ${prefix}_last_updated_timestamp:${path}.metadataLastUpdatedTimestamp
  ${prefix}_name:${path}.name ${prefix}_symbol:${path}.symbol ${prefix}_image_uri:${path}.imageUri
  ${prefix}_description:${path}.description ${prefix}_animation_uri:${path}.animationUri
  ${prefix}_external_url:${path}.externalUrl ${prefix}_background:${path}.background
  ${prefix}_attributes:${path}.attributes ${prefix}_decimals:${path}.decimals ${prefix}_properties:${path}.properties`;

const native = `tx_hash:txHash tx_status:txStatus tx_type:txType block_number:blockNumber
  block_timestamp:blockTimestamp block_timestamp_milliseconds:blockTimestampMilliseconds/ms
  block_min_delay_excess:blockMinDelayExcess block_hash:blockHash block_index:blockIndex
  ${address('from')} ${address('to')}
  method_call_type:method.callType method_hash:method.methodHash method_name:method.methodName
  value gas_limit:gasLimit gas_used:gasUsed gas_price:gasPrice nonce`;

const BESIDE = [
  'erc20Transfers',
  'erc721Transfers',
  'erc1155Transfers',
  'internalTransactions',
  'networkTokenDetails',
  'teleporterMessageInfo',
];

/** Returns the transaction of a response, with the members beside it, as one item. */
const whole = (body: Exact): Exact[] => [
  Object.fromEntries([
    ...membersAt(body, 'nativeTransaction'),
    ...BESIDE.map((name): [string, Exact] => [name, at(body, name)]),
  ]),
];

const detail = `${native} input base_fee_per_gas:baseFeePerGas max_fee_per_gas:maxFeePerGas
  max_priority_fee_per_gas:maxPriorityFeePerGas erc20_transfers:erc20Transfers
  erc721_transfers:erc721Transfers erc1155_transfers:erc1155Transfers internal_transactions:internalTransactions
  network_token_name:networkTokenDetails.networkToken.name
  network_token_symbol:networkTokenDetails.networkToken.symbol
  network_token_decimals:networkTokenDetails.networkToken.decimals
  network_token_logo_uri:networkTokenDetails.networkToken.logoUri
  network_token_description:networkTokenDetails.networkToken.description
  network_token_details_current_price_currency_code:networkTokenDetails.currentPrice.currencyCode
  network_token_details_current_price_value:networkTokenDetails.currentPrice.value
  network_token_details_historical_price_currency_code:networkTokenDetails.historicalPrice.currencyCode
  network_token_details_historical_price_value:networkTokenDetails.historicalPrice.value
  teleporter_message_id:teleporterMessageInfo.teleporterMessageId
  teleporter_message_info_direction:teleporterMessageInfo.direction
  teleporter_message_info_source_chain_id:teleporterMessageInfo.sourceChainId
  teleporter_message_info_destination_chain_id:teleporterMessageInfo.destinationChainId`;

const ownerSet = (column: string, path: string) =>
  `${column}_locktime:${path}.locktime ${column}_locktime_raw:${path}.locktime ${column}_threshold:${path}.threshold ${column}_addresses:${path}.addresses/set`;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Adds to each item the hash of its genesis data at a path, or null. */
function withHashes(items: readonly Exact[], text: string, path: string): Exact[] {
  const hashes = memberTexts(text, 'genesisData').map(sha256);
  return items.map((item) => ({
    item,
    genesisHash: at(item, path) === null ? null : (hashes.shift() ?? null),
  }));
}

const chainsOf = (body: Exact): Exact[] =>
  listAt(body, 'subnets').flatMap((subnet) => listAt(subnet, 'blockchains'));

/** Returns the validators of a request for all of them, or of a request for one, which has delegators. */
const records = (result: Exact, alone: boolean): Exact[] =>
  listAt(result, 'validators').filter((one) => (at(one, 'delegators') !== null) === alone);

const inBlock = (result: Exact): Exact[] => {
  const block = at(result, 'block');
  return block === null ? [] : [block];
};

const network = '/v1/networks/{network}';
const chain = '/v1/chains/{chain_id}';

/** Name of the recorder in the health ledger. */
const OBSERVER = 'recorder';

const probe = (operation: string): Extraction =>
  listing(operation, {
    path: '/nodes/{node}/ext/.+',
    columns: 'check_name state error',
    items: (body) => [
      { check_name: '*', state: at(body, 'healthy') === true ? 'up' : 'down' },
      ...membersAt(body, 'checks').map(([name, check]) => ({
        check_name: name,
        state: at(check, 'error') === null ? 'up' : 'down',
        error: at(check, 'error'),
      })),
    ],
    more: {
      observer: () => OBSERVER,
      probe: ({ query }) => [operation, ...query.getAll('tag')].join(':'),
    },
  });

/**
 * Expected datasets whose rows follow from the responses in the ledger. The others are in `truth.ts`: their responses
 * do not contain the requested address or blockchain.
 */
export const extractions: Readonly<Record<string, ExpectedIdentity & Extraction>> = {
  metric_points: {
    history: 'series',
    key: 'chain_id metric time_interval bucket_start',
    unstated: 'chainId metric timeInterval',
    ...listing('getMetric', {
      path: '/v2/chains/{chain_id}/metrics/{metric}',
      items: 'results',
      columns: 'bucket_start:timestamp value',
      more: { time_interval: ({ query }) => query.get('timeInterval') },
    }),
  },
  average_tps: {
    history: 'series',
    key: 'chain_id bucket_start',
    unstated: 'chainId',
    ...listing('getAverageTps', {
      path: '/v1/avg_tps/{chain_id}',
      items: 'results',
      columns: 'bucket_start:timestamp value',
    }),
  },
  staking_transactions: {
    history: 'log',
    key: 'network tx_hash',
    unstated: 'addresses',
    ...listing('listActivePrimaryNetworkStakingTransactions', {
      path: `${network}/blockchains/p-chain/transactions:listStaking`,
      items: (body, { text }) => withHashes(listAt(body, 'transactions'), text, 'blockchainInfo.genesisData'),
      columns: `tx_hash:item.txHash tx_type:item.txType block_timestamp:item.blockTimestamp
      block_number:item.blockNumber block_hash:item.blockHash node_id:item.nodeId subnet_id:item.subnetId
      start_timestamp:item.startTimestamp end_timestamp:item.endTimestamp
      delegation_fee_percent:item.delegationFeePercent estimated_reward:item.estimatedReward
      reward_tx_hash:item.rewardTxHash reward_addresses:item.rewardAddresses/set
      source_chain:item.sourceChain destination_chain:item.destinationChain value:item.value
      amount_staked:item.amountStaked amount_burned:item.amountBurned
      amount_l1_validator_balance_burned:item.amountL1ValidatorBalanceBurned
      consumed_utxos:item.consumedUtxos/outputs emitted_utxos:item.emittedUtxos/outputs
      l1_validator_details:item.l1ValidatorDetails
      ${ownerSet('subnet_ownership_info', 'item.subnetOwnershipInfo')}
      bls_credentials_public_key:item.blsCredentials.publicKey
      bls_credentials_proof_of_possession:item.blsCredentials.proofOfPossession
      blockchain_info_chain_name:item.blockchainInfo.chainName blockchain_info_vm_id:item.blockchainInfo.vmId
      genesis_hash:genesisHash memo:item.memo`,
    }),
  },
  subnets: {
    history: 'state',
    key: 'network subnet_id',
    unstated: 'network',
    ...listing('listSubnets', {
      path: `${network}/subnets`,
      items: 'subnets',
      columns: `subnet_id:subnetId create_block_timestamp:createBlockTimestamp create_block_index:createBlockIndex
      is_l1:isL1 ${ownerSet('subnet_ownership_info', 'subnetOwnershipInfo')}
      l1_conversion_transaction_hash:l1ConversionTransactionHash
      l1_validator_manager_details_blockchain_id:l1ValidatorManagerDetails.blockchainId
      l1_validator_manager_details_contract_address:l1ValidatorManagerDetails.contractAddress
      owner_addresses:ownerAddresses/set threshold locktime locktime_raw:locktime`,
    }),
  },
  blockchains: {
    history: 'state',
    key: 'network blockchain_id',
    unstated: 'network',
    ...listing('listSubnets', {
      path: `${network}/subnets`,
      items: (body, { text }) => withHashes(chainsOf(body), text, 'genesisData'),
      columns: `blockchain_id:item.blockchainId blockchain_name:item.blockchainName subnet_id:item.subnetId
      vm_id:item.vmId evm_chain_id:item.evmChainId create_block_timestamp:item.createBlockTimestamp
      create_block_number:item.createBlockNumber genesis_hash:genesisHash`,
    }),
  },
  genesis_data: {
    history: 'log',
    key: 'genesis_hash',
    unstated: 'network',
    ...listing('listSubnets', {
      path: '/v1/networks/[^/]+/subnets',
      items: (body, { text }) =>
        withHashes(chainsOf(body), text, 'genesisData').filter((one) => at(one, 'genesisHash') !== null),
      columns: 'genesis_hash:genesisHash genesis_data:item.genesisData',
    }),
  },
  primary_balances: {
    history: 'state',
    key: 'network blockchain_id addresses balance_group asset_id shared_with_chain_id',
    unstated: 'addresses',
    ...listing('getBalancesByAddresses', {
      path: `${network}/blockchains/{blockchain_id}/balances`,
      items: (body) =>
        membersAt(body, 'balances').flatMap(([group, assets]): Exact[] =>
          typeof assets === 'string'
            ? [{ group, asset: { assetId: '', amount: assets } }]
            : listAt(body, `balances.${group}`).map((asset) => ({ group, asset })),
        ),
      columns: `balance_group:group asset_id:asset.assetId shared_with_chain_id:asset.sharedWithChainId
      name:asset.name symbol:asset.symbol denomination:asset.denomination type:asset.type amount:asset.amount
      utxo_count:asset.utxoCount status:asset.status`,
      more: {
        addresses: ({ path, query }) =>
          `${path.includes('/c-chain/') ? 'C-' : ''}${query.get('addresses') ?? ''}`,
      },
    }),
  },
  pending_rewards: {
    history: 'state',
    key: 'network tx_hash reward_type',
    unstated: 'network addresses nodeIds',
    ...listing('listPendingPrimaryNetworkRewards', {
      path: `${network}/rewards:listPending`,
      items: 'pendingRewards',
      columns: `tx_hash:txHash reward_type:rewardType node_id:nodeId addresses:addresses/set amount_staked:amountStaked
      start_timestamp:startTimestamp end_timestamp:endTimestamp ${asset('estimated_reward', 'estimatedReward')}`,
    }),
  },
  pending_reward_progress: {
    history: 'sample',
    key: 'network tx_hash reward_type',
    unstated: 'network addresses nodeIds',
    ...listing('listPendingPrimaryNetworkRewards', {
      path: `${network}/rewards:listPending`,
      items: 'pendingRewards',
      columns: 'tx_hash:txHash reward_type:rewardType progress',
    }),
  },
  proposed_blocks: {
    history: 'log',
    key: 'network blockchain_id block_hash',
    ...listing('listPrimaryNetworkBlocksByNodeId', {
      path: `${network}/blockchains/{blockchain_id}/nodes/[^/]+/blocks`,
      items: 'blocks',
      columns: `block_number:blockNumber block_hash:blockHash parent_hash:parentHash block_timestamp:blockTimestamp
      block_type:blockType tx_count:txCount transactions block_size_bytes:blockSizeBytes
      l1_validators_accrued_fees:l1ValidatorsAccruedFees active_l1_validators:activeL1Validators
      current_supply:currentSupply proposer_id:proposerDetails.proposerId
      proposer_parent_id:proposerDetails.proposerParentId proposer_node_id:proposerDetails.proposerNodeId
      proposer_p_chain_height:proposerDetails.proposerPChainHeight
      proposer_timestamp:proposerDetails.proposerTimestamp`,
    }),
  },
  native_transactions: {
    history: 'log',
    key: 'chain_id address tx_hash',
    ...listing('listNativeTransactions', {
      path: `${chain}/addresses/{address}/transactions:listNative`,
      items: 'transactions',
      columns: native,
    }),
  },
  erc1155_transfers: {
    history: 'log',
    key: 'chain_id address tx_hash log_index token_id',
    unstated: 'chainId',
    ...listing('listErc1155Transactions', {
      path: `${chain}/addresses/{address}/transactions:listErc1155`,
      items: 'transactions',
      columns: `tx_hash:txHash block_number:blockNumber block_timestamp:blockTimestamp
      block_timestamp_milliseconds:blockTimestampMilliseconds/ms block_hash:blockHash log_index:logIndex
      ${address('from')} ${address('to')} value token_id:erc1155Token.tokenId
      erc1155_token_address:erc1155Token.address erc1155_token_erc_type:erc1155Token.ercType
      erc1155_token_token_uri:erc1155Token.tokenUri ${metadata('erc1155_token_metadata', 'erc1155Token.metadata')}`,
    }),
  },
  native_balances: {
    history: 'state',
    key: 'chain_id address',
    unstated: 'address',
    ...listing('getNativeBalance', {
      path: `${chain}/addresses/{address}/balances:getNative`,
      items: (body) => [at(body, 'nativeTokenBalance')],
      columns: 'balance name symbol decimals logo_uri:logoUri',
    }),
  },
  native_balance_values: {
    history: 'sample',
    key: 'chain_id address',
    unstated: 'address',
    ...listing('getNativeBalance', {
      path: `${chain}/addresses/{address}/balances:getNative`,
      items: (body) => [at(body, 'nativeTokenBalance')].filter((one) => at(one, 'price') !== null),
      columns: `currency_code:price.currencyCode price:price.value
      balance_value_currency_code:balanceValue.currencyCode balance_value:balanceValue.value`,
    }),
  },
  erc1155_balances: {
    history: 'state',
    key: 'chain_id address contract token_id',
    unstated: 'address',
    ...listing('listErc1155Balances', {
      path: `${chain}/addresses/{address}/balances:listErc1155`,
      items: 'erc1155TokenBalances',
      columns: `contract:address erc_type:ercType token_id:tokenId token_uri:tokenUri
      ${metadata('metadata', 'metadata')} balance`,
    }),
  },
  deployed_contracts: {
    history: 'state',
    key: 'chain_id deployer address',
    unstated: 'chainId',
    ...listing('listContractDeployments', {
      path: `${chain}/contracts/{deployer}/deployments`,
      items: 'contracts',
      columns: `address erc_type:ercType name symbol decimals description official_site:officialSite email
      logo_asset_asset_id:logoAsset.assetId logo_asset_image_uri:logoAsset.imageUri
      banner_asset_asset_id:bannerAsset.assetId banner_asset_image_uri:bannerAsset.imageUri color
      resource_links:resourceLinks tags:tags/set deployment_details_tx_hash:deploymentDetails.txHash
      deployment_details_deployer_address:deploymentDetails.deployerAddress
      deployment_details_deployer_contract_address:deploymentDetails.deployerContractAddress
      pricing_providers_coingecko_coin_id:pricingProviders.coingeckoCoinId`,
    }),
  },
  deployment_transactions: {
    history: 'log',
    key: 'chain_id address',
    unstated: 'address',
    ...listing('getDeploymentTransaction', {
      path: `${chain}/contracts/{address}/transactions:getDeployment`,
      items: whole,
      columns: detail,
    }),
  },
  evm_transactions: {
    history: 'log',
    key: 'chain_id tx_hash',
    ...listing('getTransaction', {
      path: `${chain}/transactions/[^/]+`,
      items: whole,
      columns: detail,
    }),
  },
  nft_tokens: {
    history: 'state',
    key: 'chain_id collection token_id',
    unstated: 'chainId',
    ...listing('listTokens', {
      path: `${chain}/nfts/collections/{collection}/tokens`,
      items: 'tokens',
      columns: `token_id:tokenId erc_type:ercType name symbol token_uri:tokenUri owner_address:ownerAddress
      ${metadata('metadata', 'metadata')}`,
    }),
  },
  validators: {
    history: 'state',
    key: 'node subnet_id node_id start_time tx_id validation_id',
    unstated: 'subnetId',
    ...method('platform.getCurrentValidators', {
      items: (result) => records(result, false),
      columns: `node_id:nodeID start_time:startTime tx_id:txID validation_id:validationID end_time:endTime weight
      stake_navax:weight public_key:publicKey ${ownerSet('remaining_balance_owner', 'remainingBalanceOwner')}
      ${ownerSet('deactivation_owner', 'deactivationOwner')}
      ${ownerSet('validation_reward_owner', 'validationRewardOwner')}
      ${ownerSet('delegation_reward_owner', 'delegationRewardOwner')} min_nonce:minNonce balance
      potential_reward:potentialReward accrued_delegatee_reward:accruedDelegateeReward
      delegation_fee:delegationFee signer_public_key:signer.publicKey
      signer_proof_of_possession:signer.proofOfPossession delegator_count:delegatorCount
      delegator_weight:delegatorWeight`,
      more: { subnet_id: () => PRIMARY_NETWORK },
    }),
  },
  validator_uptime: {
    history: 'sample',
    key: 'node subnet_id node_id',
    unstated: 'subnetId',
    ...method('platform.getCurrentValidators', {
      items: (result) => records(result, false),
      columns: 'node_id:nodeID uptime connected',
      more: { subnet_id: () => PRIMARY_NETWORK },
    }),
  },
  validator_delegators: {
    history: 'state',
    key: 'node subnet_id node_id start_time tx_id',
    unstated: 'subnetId',
    ...method('platform.getCurrentValidators', {
      items: (result) => records(result, true).flatMap((one) => listAt(one, 'delegators')),
      columns: `node_id:nodeID tx_id:txID start_time:startTime end_time:endTime weight
      stake_navax:weight ${ownerSet('reward_owner', 'rewardOwner')} potential_reward:potentialReward`,
      more: { subnet_id: () => PRIMARY_NETWORK },
    }),
  },
  p_blocks: {
    history: 'log',
    key: 'node height',
    ...method('platform.getBlockByHeight', {
      // The block of the genesis identifies the network of a node, and is too old to be recorded.
      items: (result) => inBlock(result).filter((block) => String(at(block, 'height')) !== '0'),
      columns: 'height id parent_id:parentID time txs tx bytes',
    }),
  },
  x_blocks: {
    history: 'log',
    key: 'node height',
    ...method('avm.getBlockByHeight', {
      items: inBlock,
      columns: 'height id parent_id:parentID time merkle_root:merkleRoot txs bytes',
    }),
  },
  x_transactions: {
    history: 'log',
    key: 'node tx_id',
    ...method('avm.getBlockByHeight', {
      items: (result) =>
        inBlock(result).flatMap((block) => listAt(block, 'txs').map((tx) => ({ block, tx }))),
      columns: `tx_id:tx.id status:nowhere block_height:block.height block_id:block.id block_time:block.time
      unsigned_tx_network_id:tx.unsignedTx.networkID unsigned_tx_blockchain_id:tx.unsignedTx.blockchainID
      unsigned_tx_outputs:tx.unsignedTx.outputs unsigned_tx_inputs:tx.unsignedTx.inputs
      unsigned_tx_memo:tx.unsignedTx.memo unsigned_tx_destination_chain:tx.unsignedTx.destinationChain
      unsigned_tx_exported_outputs:tx.unsignedTx.exportedOutputs
      unsigned_tx_source_chain:tx.unsignedTx.sourceChain
      unsigned_tx_imported_inputs:tx.unsignedTx.importedInputs credentials:tx.credentials bytes:nowhere`,
    }),
  },
  x_assets: {
    history: 'state',
    key: 'node asset_id',
    ...method('avm.getAssetDescription', { columns: 'asset_id:assetID name symbol denomination' }),
  },
  chain_heights: {
    history: 'sample',
    key: 'node chain',
    unstated: 'chain',
    ...method('avm.getHeight', { columns: 'height', more: { chain: () => 'X' } }),
  },
  current_supply: {
    history: 'sample',
    key: 'node subnet_id',
    unstated: 'subnetId',
    ...method('platform.getCurrentSupply', {
      columns: 'supply height',
      more: { subnet_id: () => PRIMARY_NETWORK },
    }),
  },
  node_identity: {
    history: 'state',
    key: 'node',
    ...mergedByNode({
      'info.getNodeID': `node_id:nodeID node_pop_public_key:nodePOP.publicKey
      node_pop_proof_of_possession:nodePOP.proofOfPossession`,
      'info.getNodeIP': 'ip',
      'info.getNodeVersion': `version database_version:databaseVersion git_commit:gitCommit
      rpc_protocol_version:rpcProtocolVersion vm_versions:vmVersions`,
      'info.getNetworkID': 'network_id:networkID',
      'info.getNetworkName': 'network_name:networkName',
      'info.getVMs': 'vms fxs',
    }),
  },
  fees: {
    history: 'state',
    key: 'node',
    ...mergedByNode({
      'info.getTxFee': `tx_fee:txFee create_asset_tx_fee:createAssetTxFee create_subnet_tx_fee:createSubnetTxFee
      transform_subnet_tx_fee:transformSubnetTxFee create_blockchain_tx_fee:createBlockchainTxFee
      add_primary_network_validator_fee:addPrimaryNetworkValidatorFee
      add_primary_network_delegator_fee:addPrimaryNetworkDelegatorFee
      add_subnet_validator_fee:addSubnetValidatorFee add_subnet_delegator_fee:addSubnetDelegatorFee`,
      'avm.getTxFee': 'x_tx_fee:txFee x_create_asset_tx_fee:createAssetTxFee',
    }),
  },
  upgrades: {
    history: 'state',
    key: 'node',
    ...method('info.upgrades', {
      columns: `apricot_phase1_time:apricotPhase1Time/iso apricot_phase2_time:apricotPhase2Time/iso
      apricot_phase3_time:apricotPhase3Time/iso apricot_phase4_time:apricotPhase4Time/iso
      apricot_phase4_min_p_chain_height:apricotPhase4MinPChainHeight apricot_phase5_time:apricotPhase5Time/iso
      apricot_phase_pre6_time:apricotPhasePre6Time/iso apricot_phase6_time:apricotPhase6Time/iso
      apricot_phase_post6_time:apricotPhasePost6Time/iso banff_time:banffTime/iso cortina_time:cortinaTime/iso
      cortina_x_chain_stop_vertex_id:cortinaXChainStopVertexID durango_time:durangoTime/iso etna_time:etnaTime/iso
      fortuna_time:fortunaTime/iso granite_time:graniteTime/iso granite_epoch_duration:graniteEpochDuration
      helicon_time:heliconTime/iso`,
    }),
  },
  proposals: {
    history: 'state',
    key: 'node proposal',
    ...method('info.acps', {
      items: (result) => membersAt(result, 'acps').map(([proposal, votes]) => ({ proposal, votes })),
      columns: `proposal support_weight:votes.supportWeight supporters:votes.supporters/set
      object_weight:votes.objectWeight objectors:votes.objectors/set abstain_weight:votes.abstainWeight`,
    }),
  },
  peers: {
    history: 'state',
    key: 'node node_id',
    ...method('info.peers', {
      items: (result) => listAt(result, 'peers'),
      columns: `node_id:nodeID ip public_ip:publicIP version upgrade_time:upgradeTime
      tracked_subnets:trackedSubnets/set supported_acps:supportedACPs/set objected_acps:objectedACPs/set
      benched:benched/set`,
    }),
  },
  peer_readings: {
    history: 'sample',
    key: 'node node_id subnet_id',
    ...method('info.peers', {
      items: (result) => listAt(result, 'peers'),
      columns: `node_id:nodeID last_sent:lastSent/iso last_received:lastReceived/iso
      observed_uptime:observedUptime`,
      more: { subnet_id: () => PRIMARY_NETWORK },
    }),
  },
  node_reported_uptime: {
    history: 'sample',
    key: 'node subnet_id',
    unstated: 'subnetId',
    ...method('info.uptime', {
      columns: `rewarding_stake_percentage:rewardingStakePercentage
      weighted_average_percentage:weightedAveragePercentage`,
      more: { subnet_id: () => PRIMARY_NETWORK },
    }),
  },
  node_health: {
    history: 'ledger',
    key: 'observer node probe check_name',
    ...together([probe('health'), probe('readiness'), probe('liveness')]),
  },
};
