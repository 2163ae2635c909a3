import { defineDataset } from '../dataset.ts';
import { hex, json, list, object, optional, set, text, uint, unixSeconds } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { xChainBlocks } from './x-chain-blocks.ts';

/** An output of a transaction. Kinds other than secp256k1 have other fields. */
const output = object({
  assetID: text(),
  fxID: optional(text()),
  output: object({
    addresses: optional(set()),
    amount: optional(uint()),
    locktime: optional(uint()),
    threshold: optional(uint()),
  }),
});

/** An input of a transaction. */
const input = object({
  txID: text(),
  outputIndex: uint(),
  assetID: text(),
  fxID: optional(text()),
  input: object({ amount: optional(uint()), signatureIndices: optional(list()) }),
});

/**
 * Returns the transactions of the blocks, each with its block, and the transactions that were requested by
 * id.
 */
function itemsOf(body: unknown): unknown[] {
  const inBlocks = getList(body, 'blocks').flatMap((block) => {
    const of = {
      height: getMember(block, 'height'),
      id: getMember(block, 'id'),
      time: getMember(block, 'time'),
    };
    // Blocks that were received as bytes have no decoded transactions.
    return getMember(block, 'txs') === undefined
      ? []
      : getList(block, 'txs').map((tx) => liftCommonFields(tx, { block: of }));
  });
  const requested = getMember(body, 'transactions') === undefined ? [] : getList(body, 'transactions');
  return [...inBlocks, ...requested.map((tx) => liftCommonFields(tx, {}))];
}

/**
 * Moves the common fields of transactions to their standard position. Older nodes have them below
 * `unsignedTx.inputs` (upstream-services.md#transport).
 */
function liftCommonFields(tx: unknown, more: object): unknown {
  const unsignedTx = getMember(tx, 'unsignedTx');
  const nested = getMember(unsignedTx, 'inputs');
  const lifted =
    typeof nested === 'object' && nested !== null && !Array.isArray(nested)
      ? { unsignedTx: Object.assign({}, unsignedTx, nested) }
      : {};
  return Object.assign({}, tx, lifted, more);
}

export const xTransactions = defineDataset({
  name: 'x_transactions',
  about: 'Transactions of the X-chain, as a node returns them.',
  operations: ['avm.getBlockByHeight', 'avm.getTx', 'avm.getTxStatus'],
  history: 'log',
  source: xChainBlocks,
  request: ['node'],
  key: ['node', 'tx_id'],
  everyNode: { own: [] },
  items: itemsOf,
  states: { txId: ['id'], blockId: ['block.id'], height: ['block.height'] },
  rename: { id: 'tx_id' },
  item: object({
    id: text(),
    status: optional(
      text(
        'Accepted or Rejected, if the status was requested; null: the transaction is in an accepted block.',
      ),
    ),
    block: optional(
      object({ height: optional(uint()), id: optional(text()), time: optional(unixSeconds()) }),
    ),
    unsignedTx: optional(
      object({
        networkID: optional(uint()),
        blockchainID: optional(text()),
        outputs: optional(list(output)),
        inputs: optional(list(input)),
        memo: optional(hex('Hex.')),
        destinationChain: optional(text('Only of a transaction that exports assets.')),
        exportedOutputs: optional(list(output, 'Only of a transaction that exports assets.')),
        sourceChain: optional(text('Only of a transaction that imports assets.')),
        importedInputs: optional(list(input, 'Only of a transaction that imports assets.')),
        name: optional(text('Only of a transaction that creates an asset.')),
        symbol: optional(text('Only of a transaction that creates an asset.')),
        denomination: optional(uint('Only of a transaction that creates an asset.')),
        initialStates: optional(json('Only of a transaction that creates an asset.')),
        operations: optional(json('Only of a transaction with operations on assets.')),
      }),
    ),
    credentials: optional(
      list(
        object({
          fxID: optional(text()),
          credential: optional(object({ signatures: optional(list()) })),
        }),
        'Credentials: each authorizes the spending of one input.',
      ),
    ),
    bytes: optional(hex('The transaction as hex, from a node that returned no JSON.')),
  }),
  example: {
    unsignedTx: {
      networkID: 1,
      blockchainID: '2oYMBNV4eNHyqk2fjjV5nVQLDbtmNJzq5s3qs3Lo6ftnC6FByM',
      outputs: [],
      inputs: [
        {
          txID: '2jbZUvi6nHy3Pgmk8xcMpSg5cW6epkPqdKkHSCweb4eRXtq4k9',
          outputIndex: 1,
          assetID: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
          fxID: 'spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ',
          input: { amount: 2570382395, signatureIndices: [0] },
        },
      ],
      memo: '0x',
      destinationChain: '11111111111111111111111111111111LpoYY',
      exportedOutputs: [
        {
          assetID: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
          fxID: 'spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ',
          output: {
            addresses: ['X-avax1tnuesf6cqwnjw7fxjyk7lhch0vhf0v95wj5jvy'],
            amount: 2569382395,
            locktime: 0,
            threshold: 1,
          },
        },
      ],
    },
    credentials: [
      {
        fxID: 'spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ',
        credential: { signatures: ['0x46ebcbcfbee3ece1fd15015204045cf3'] },
      },
    ],
    id: '2oJCbb8pfdxEHAf9A8CdN4Afj9VSR3xzyzNkf8tDv7aM1sfNFL',
    status: 'Accepted',
    block: {
      height: 5094088,
      id: '2dGXbZKuFuFUvkZxJuKvRAXcqZYTjWVEJDXwPTHfBJnZkRK8qP',
      time: 1763600000,
    },
  },
});

export const { table: xTransactionsTable } = xTransactions;
