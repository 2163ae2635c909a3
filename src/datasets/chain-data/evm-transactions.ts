import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { hour } from '../sources/durations.ts';
import { walkSingleResponse } from '../sources/single-response.ts';
import { exampleTransaction, transactionDetail, transactionIn } from './transaction-detail.ts';

/**
 * A watched transaction. The service returns a new transaction only after its index contains the transaction.
 */
const source: Source = {
  name: 'evm-transactions',
  upstream: 'chainData',
  every: hour,
  weight: 20,
  calls: 1,
  once: true,
  targets: ({ watch }) => watch.transactions.map(({ chain: chainId, hash: txHash }) => ({ chainId, txHash })),
  walk: (client, { chainId, txHash }) =>
    walkSingleResponse(() => client.get(`/v1/chains/${chainId}/transactions/${txHash}`)),
};

export const evmTransactions = defineDataset({
  name: 'evm_transactions',
  about: 'Watched transactions of EVM chains with their transfers and internal calls.',
  operations: ['GET /v1/chains/{chainId}/transactions/{txHash}'],
  history: 'log',
  source,
  request: ['chainId'],
  key: ['chain_id', 'tx_hash'],
  seldom: ['erc20_transfers', 'erc721_transfers', 'erc1155_transfers', 'internal_transactions'],
  items: (body) => [transactionIn(body)],
  states: { chainId: ['chainId'], txHash: ['txHash'] },
  ignore: ['chainId'],
  item: transactionDetail,
  example: exampleTransaction,
});

export const { table: evmTransactionsTable } = evmTransactions;
