import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, hex, lockTime, object, optional, set, text, uint } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { addressesOn } from '../sources/primary-addresses.ts';
import { decodeUtxo } from './utxo.ts';
import { walkUtxos } from './utxo-pages.ts';

/** Unspent outputs of an address, including those in transit from the P- and C-chain. */
const source: Source = {
  name: 'x-utxos',
  upstream: 'nodes',
  every: 30 * minute,
  weight: 0,
  calls: 3,
  paged: true,
  targets: ({ nodes, watch }) =>
    nodes.flatMap((node) => addressesOn('X', watch.addresses).map((address) => ({ node, address }))),
  walk: (ask, { address = '' }) => walkUtxos(ask, address),
};

export const xUtxos = defineDataset({
  name: 'x_utxos',
  about: 'Unspent outputs of a watched X-chain address, decoded.',
  operations: ['avm.getUTXOs'],
  history: 'state',
  source,
  request: ['node', 'address'],
  key: ['node', 'address', 'utxo_id'],
  items: (body, { address = '' }) => {
    const sourceChain = getMember(body, 'sourceChain');
    return getList(body, 'utxos').map((hex) => ({ ...decodeUtxo(hex, address), sourceChain }));
  },
  states: { address: ['addresses'] },
  item: object({
    utxoID: text(),
    sourceChain: optional(text('Chain that it was exported from, to be imported; null: on the X-chain.')),
    txID: text('Transaction that made it.'),
    outputIndex: count('Its place among the outputs of that transaction.'),
    assetID: text(),
    outputType: count('Kind of output: 7 can be transferred; of others only the bytes are kept.'),
    amount: optional(uint("In the asset's smallest unit.")),
    locktime: optional(lockTime('When it can be spent.')),
    threshold: optional(count('How many of its addresses must sign.')),
    addresses: optional(set(undefined, 'Addresses of which the threshold must sign.')),
    utxo: hex('The output as the node gave it: hex with a checksum.'),
  }),
  example: {
    utxoID: '2Sz2XwRYqUHwPeiKoRnZ6ht88YqzAF1SQjMYZQQaB5wBFkAqST',
    sourceChain: 'P',
    txID: 'FCry2Z1Su9KZqK1XRMhxQS6XuPorxDm3C3RBT7hw32ojiqyvP',
    outputIndex: 0,
    assetID: 'SSUAMrVdqYuvybAMGNitTYSAnE4T5fVdVDB82ped1qQ9f8DDM',
    outputType: 7,
    amount: '1280000000000000000',
    locktime: '0',
    threshold: 1,
    addresses: ['X-avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5'],
    utxo: '0x00001f989ffaf18a18a59bdfbf209342aa61c6a62a67e8639d02bb3c8ddab315c6fa0000000039c33a499ce4c33a3b09cdd2cfa01ae70dbf2d18b2d7d168524440e55d550088000000070011c304cd7eb5c0000000000000000000000001000000013cb7d3842e8cee6a0ebd09f1fe884f6861e1b29c83497819',
  },
});

export const { table: xUtxosTable } = xUtxos;
