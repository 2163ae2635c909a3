import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, hex, list, object, optional, text, uint, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { day, hour, MAX_INDEX_LAG_MS, minute, month } from '../sources/durations.ts';
import { fetchPages } from '../sources/pages.ts';
import { timeWindowQuery, unixSecondsReader } from '../sources/time-windows.ts';

const PAGE_SIZE = 100;
const CHAINS = ['p-chain', 'x-chain', 'c-chain'];

/**
 * Blocks of the chains of the primary network by the node that proposed them, newest first.
 */
const source: Source = {
  name: 'proposed-blocks',
  upstream: 'chainData',
  every: 10 * minute,
  weight: 20,
  calls: 1,
  paged: true,
  range: {
    axis: 'time',
    span: () => 14 * day,
    head: () => hour,
    settle: MAX_INDEX_LAG_MS,
    lookback: month,
    index: {
      name: ({ network = '', blockchainId = '' }) => `${network} ${blockchainId}`,
      timeOf: unixSecondsReader('blockTimestamp'),
      page: PAGE_SIZE,
    },
  },
  targets: ({ network, watch }) =>
    watch.nodeIds.flatMap((nodeId) => CHAINS.map((blockchainId) => ({ network, blockchainId, nodeId }))),
  walk: (client, { network, blockchainId, nodeId }, window) =>
    fetchPages(
      client,
      {
        path: `/v1/networks/${network}/blockchains/${blockchainId}/nodes/${nodeId}/blocks`,
        query: { pageSize: client.pageSize(PAGE_SIZE) },
        list: 'blocks',
        within: timeWindowQuery,
        at: unixSecondsReader('blockTimestamp'),
        step: 1000,
      },
      window,
    ),
};

export const proposedBlocks = defineDataset({
  name: 'proposed_blocks',
  about: 'Blocks that a watched node proposed on the P-, X- or C-chain.',
  operations: ['GET /v1/networks/{network}/blockchains/{blockchainId}/nodes/{nodeId}/blocks'],
  history: 'log',
  source,
  request: ['network', 'blockchainId'],
  key: ['network', 'blockchain_id', 'block_hash'],
  single: ['network', 'blockchain_id', 'block_number'],
  items: (body) => getList(body, 'blocks'),
  states: { nodeId: ['proposerDetails.proposerNodeId'] },
  answerStates: { network: ['chainInfo.network'], blockchainId: ['chainInfo.chainName'] },
  item: object({
    blockNumber: uint(),
    blockHash: hex(),
    parentHash: hex(),
    blockTimestamp: unixSeconds(),
    blockType: text(),
    txCount: count(),
    transactions: list(undefined, 'Hashes of the transactions in the block.'),
    blockSizeBytes: count(),
    l1ValidatorsAccruedFees: optional(uint('In nAVAX.')),
    activeL1Validators: optional(count()),
    currentSupply: optional(uint('In nAVAX.')),
    proposerDetails: optional(
      object({
        proposerId: optional(text()),
        proposerParentId: optional(text()),
        proposerNodeId: optional(text()),
        proposerPChainHeight: optional(uint()),
        proposerTimestamp: optional(unixSeconds()),
      }),
    ),
  }),
  example: {
    blockNumber: '15210400',
    blockHash: '2dGXbZKuFuFUvkZxJuKvRAXcqZYTjWVEJDXwPTHfBJnZkRK8qP',
    parentHash: '2JVSBoinj9C2J33VntvzYtVJNZdN2NKiwwKjcumHUWEb5DbBrm',
    blockTimestamp: 1763600000,
    blockType: 'BanffStandardBlock',
    txCount: 1,
    transactions: ['2Kv7zQnRXHwVRzrcpwdCbxBwpxvKcUwVqHqXQjA1eGqPNTvd6U'],
    blockSizeBytes: 945,
    l1ValidatorsAccruedFees: 0,
    activeL1Validators: 12,
    currentSupply: '450123456789012345',
    proposerDetails: {
      proposerId: 'wGvZ3gQ7vLS4kkWKP3h8m6LFX1hPdkEPHL8ZqbSVUGJ7yhTqD',
      proposerParentId: '21Z7dmyBpnDXvNkKJ4WxuRTvSJsq8Kz8VfpqkLqyHwqsdF2n1h',
      proposerNodeId: 'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg',
      proposerPChainHeight: 15210398,
      proposerTimestamp: 1763599999,
    },
  },
});

export const { table: proposedBlocksTable } = proposedBlocks;
