import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { hour } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/single-response.ts';
import { exampleTransaction, transactionDetail, transactionIn } from './transaction-detail.ts';

/** The transaction that deployed a watched contract. */
const source: Source = {
  name: 'deployment-transactions',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  once: true,
  targets: ({ watch }) => watch.contracts.map(({ chain: chainId, address }) => ({ chainId, address })),
  walk: (client, { chainId, address }) =>
    walkSingleResponse(() =>
      client.get(`/v1/chains/${chainId}/contracts/${address}/transactions:getDeployment`),
    ),
};

export const deploymentTransactions = defineDataset({
  name: 'deployment_transactions',
  about: 'The transactions that deployed watched contracts, with their transfers and internal calls.',
  operations: ['GET /v1/chains/{chainId}/contracts/{address}/transactions:getDeployment'],
  history: 'log',
  source,
  request: ['chainId', 'address'],
  key: ['chain_id', 'address'],
  seldom: ['erc20_transfers', 'erc721_transfers', 'erc1155_transfers', 'internal_transactions'],
  items: (body) => [transactionIn(body)],
  states: { chainId: ['chainId'] },
  ignore: ['chainId'],
  item: transactionDetail,
  example: {
    ...exampleTransaction,
    input: '0x6080604052',
    method: { callType: 'CONTRACT_CREATION', methodHash: '' },
  },
});

export const { table: deploymentTransactionsTable } = deploymentTransactions;
