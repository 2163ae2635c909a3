import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import {
  count,
  decimal,
  flag,
  hex,
  list,
  moves,
  object,
  optional,
  set,
  text,
  uint,
  unixSeconds,
} from '../fields.ts';
import { getEntries, getList, getMember } from '../sources/answer.ts';
import { day, hour, MAX_INDEX_LAG_MS } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';
import { timeWindowQuery, unixSecondsReader } from '../sources/time-windows.ts';
import { assetAmount } from './asset-amount.ts';
import { withGenesisHash } from './genesis.ts';
import { ownership } from './ownership.ts';
import { stakers } from './stakers.ts';
import { validatorManager } from './validator-manager.ts';

/** BLS key of a validator. */
const blsCredentials = object({ publicKey: optional(hex()), proofOfPossession: optional(hex()) });

/** An unspent output, as an element of the lists of a staking transaction. */
const utxo = object({
  utxoId: optional(text()),
  txHash: optional(hex()),
  addresses: optional(set()),
  asset: optional(assetAmount),
  amount: optional(uint()),
  assetId: optional(text()),
  utxoType: optional(text()),
  outputIndex: optional(count()),
  createdOnChainId: optional(text()),
  blockNumber: optional(uint()),
  blockTimestamp: optional(unixSeconds()),
  consumedOnChainId: optional(text()),
  consumingTxHash: moves(optional(hex())),
  consumingBlockNumber: moves(optional(uint())),
  consumingBlockTimestamp: moves(optional(unixSeconds())),
  threshold: optional(uint()),
  platformLocktime: optional(unixSeconds()),
  stakeableLocktime: optional(unixSeconds()),
  staked: optional(flag()),
  rewardType: optional(text()),
  utxoStartTimestamp: optional(unixSeconds()),
  utxoEndTimestamp: optional(unixSeconds()),
  utxoBytes: optional(hex()),
});

/** Effect of a transaction on an L1 validator. */
const l1Validator = object({
  validationId: optional(text()),
  validationIdHex: optional(text()),
  nodeId: optional(text()),
  subnetId: optional(text()),
  weight: optional(uint()),
  remainingBalance: optional(uint()),
  balanceChange: optional(uint()),
  blsCredentials: optional(blsCredentials),
});

const PAGE_SIZE = 100;

/**
 * Active staking transactions of an address, newest first. An address has few such transactions. So one
 * window, which starts before the launch of the network, contains all these transactions.
 */
const source: Source = {
  name: 'staking-transactions',
  upstream: 'chainData',
  every: hour,
  weight: 100,
  calls: 1,
  paged: true,
  range: {
    axis: 'time',
    span: () => Number.POSITIVE_INFINITY,
    head: () => hour,
    settle: MAX_INDEX_LAG_MS,
    lookback: 10 * 365 * day,
    index: {
      name: ({ network = '' }) => `${network} p-chain`,
      timeOf: unixSecondsReader('blockTimestamp'),
      page: PAGE_SIZE,
    },
  },
  targets: ({ network, watch }) => stakers(watch.addresses).map((addresses) => ({ network, addresses })),
  walk: (client, { network, addresses }, window) =>
    fetchPages(
      client,
      {
        path: `/v1/networks/${network}/blockchains/p-chain/transactions:listStaking`,
        query: { addresses, pageSize: client.pageSize(PAGE_SIZE), sortOrder: 'desc' },
        list: 'transactions',
        within: timeWindowQuery,
        at: unixSecondsReader('blockTimestamp'),
        step: 1000,
      },
      window,
    ),
};

/** Replaces the genesis in a transaction that creates a blockchain by its key. */
function withoutGenesis(transaction: unknown): unknown {
  const blockchainInfo = getMember(transaction, 'blockchainInfo');
  if (blockchainInfo === undefined) return transaction;
  return { ...Object.fromEntries(getEntries(transaction)), blockchainInfo: withGenesisHash(blockchainInfo) };
}

export const stakingTransactions = defineDataset({
  name: 'staking_transactions',
  about: 'P-chain transactions of watched addresses that stake, validate, or create subnets and blockchains.',
  operations: ['GET /v1/networks/{network}/blockchains/{blockchainId}/transactions:listStaking'],
  history: 'log',
  source,
  request: ['network'],
  key: ['network', 'tx_hash'],
  seldom: ['l1_validator_details', 'subnet_ownership_info_addresses'],
  items: (body) => getList(body, 'transactions').map(withoutGenesis),
  answerStates: { network: ['chainInfo.network'] },
  rename: { 'blockchainInfo.genesisHash': 'genesis_hash' },
  item: object({
    txHash: hex(),
    txType: text(),
    blockTimestamp: unixSeconds(),
    blockNumber: optional(uint()),
    blockHash: optional(hex()),
    nodeId: optional(text()),
    subnetId: optional(text()),
    startTimestamp: optional(unixSeconds()),
    endTimestamp: optional(unixSeconds()),
    delegationFeePercent: optional(decimal()),
    estimatedReward: optional(uint('In nAVAX.')),
    rewardTxHash: optional(hex()),
    rewardAddresses: optional(set()),
    stakingTxHash: optional(hex()),
    sourceChain: optional(text()),
    destinationChain: optional(text()),
    value: optional(set(assetAmount)),
    amountStaked: optional(set(assetAmount)),
    amountBurned: optional(set(assetAmount)),
    amountL1ValidatorBalanceBurned: optional(set(assetAmount)),
    consumedUtxos: optional(list(utxo)),
    emittedUtxos: optional(list(utxo)),
    l1ValidatorDetails: optional(list(l1Validator)),
    l1ValidatorManagerDetails: optional(validatorManager),
    subnetOwnershipInfo: optional(ownership),
    blsCredentials: optional(blsCredentials),
    blockchainInfo: optional(
      object({
        chainName: optional(text()),
        vmId: optional(text()),
        genesisHash: optional(text('Key of the genesis in genesis_data.')),
      }),
    ),
    memo: optional(hex()),
  }),
  example: {
    txHash: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
    txType: 'AddPermissionlessValidatorTx',
    blockTimestamp: 1763600000,
    blockNumber: '15210400',
    blockHash: '2dGXbZKuFuFUvkZxJuKvRAXcqZYTjWVEJDXwPTHfBJnZkRK8qP',
    consumedUtxos: [],
    emittedUtxos: [
      {
        addresses: ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
        asset: {
          assetId: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
          name: 'Avalanche',
          symbol: 'AVAX',
          denomination: 9,
          type: 'secp256k1',
          amount: '2000000000000',
        },
        consumedOnChainId: '11111111111111111111111111111111LpoYY',
        createdOnChainId: '11111111111111111111111111111111LpoYY',
        utxoId: 'd3QuFbnr5PMDZVqv2fKNCRN4PbEdTRQbwnmPGrKBAzYM6PnJb',
        amount: '2000000000000',
        assetId: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
        blockNumber: '15210400',
        blockTimestamp: 1763600000,
        platformLocktime: 0,
        outputIndex: 0,
        rewardType: 'VALIDATOR',
        staked: true,
        threshold: 1,
        txHash: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
        utxoStartTimestamp: 1763600000,
        utxoEndTimestamp: 1795136000,
        utxoType: 'STAKE',
      },
    ],
    sourceChain: '11111111111111111111111111111111LpoYY',
    destinationChain: '11111111111111111111111111111111LpoYY',
    value: [],
    amountBurned: [],
    amountStaked: [
      {
        assetId: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
        name: 'Avalanche',
        symbol: 'AVAX',
        denomination: 9,
        type: 'secp256k1',
        amount: '2000000000000',
      },
    ],
    amountL1ValidatorBalanceBurned: [],
    startTimestamp: 1763600000,
    endTimestamp: 1795136000,
    delegationFeePercent: '2.0000',
    nodeId: 'NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD',
    subnetId: '11111111111111111111111111111111LpoYY',
    estimatedReward: '148329411234',
    rewardAddresses: ['avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    memo: '0x',
    blsCredentials: {
      publicKey: '0x8f95423f7142d00a48e1014a3de8d289',
      proofOfPossession: '0x86a3ab4c45cfe31cae34c1d06f212434',
    },
  },
});

export const { table: stakingTransactionsTable } = stakingTransactions;
