import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { object, optional, uint } from '../fields.ts';
import { getEntries } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { OptionalMethods } from '../sources/optional-methods.ts';
import { singleResponsePage } from '../sources/single-response.ts';

const METHODS = ['info.getTxFee', 'avm.getTxFee'];

/** Fees of the network (deprecated) and of the X-chain, combined in one row. */
const source: Source = {
  name: 'fees',
  upstream: 'nodes',
  every: hour,
  weight: 0,
  calls: METHODS.length,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  async *walk(client) {
    const offered = new OptionalMethods(client);
    const network = await offered.rpc('/ext/info', 'info.getTxFee');
    const x = await offered.rpc('/ext/bc/X', 'avm.getTxFee');
    offered.requireAny(METHODS);
    yield singleResponsePage({ ...Object.fromEntries(getEntries(network)), x }, offered.refused);
  },
};

export const nodeFees = defineDataset({
  name: 'fees',
  about: 'Fees of transactions as a node reports them, in nAVAX.',
  operations: METHODS,
  history: 'state',
  source,
  request: ['node'],
  key: ['node'],
  everyNode: { own: [] },
  items: (body) => [body],
  item: object({
    txFee: optional(uint('From info.getTxFee.')),
    createAssetTxFee: optional(uint('From info.getTxFee.')),
    createSubnetTxFee: optional(uint('No longer used.')),
    transformSubnetTxFee: optional(uint('No longer used.')),
    createBlockchainTxFee: optional(uint('No longer used.')),
    addPrimaryNetworkValidatorFee: optional(uint('No longer used.')),
    addPrimaryNetworkDelegatorFee: optional(uint('No longer used.')),
    addSubnetValidatorFee: optional(uint('No longer used.')),
    addSubnetDelegatorFee: optional(uint('No longer used.')),
    x: optional(
      object({
        txFee: optional(uint("The X-chain's default transaction fee, by avm.getTxFee.")),
        createAssetTxFee: optional(uint("The X-chain's asset creation fee, by avm.getTxFee.")),
      }),
    ),
  }),
  example: {
    txFee: '1000000',
    createAssetTxFee: '10000000',
    createSubnetTxFee: '1000000000',
    transformSubnetTxFee: '10000000000',
    createBlockchainTxFee: '1000000000',
    addPrimaryNetworkValidatorFee: '0',
    addPrimaryNetworkDelegatorFee: '0',
    addSubnetValidatorFee: '1000000',
    addSubnetDelegatorFee: '1000000',
    x: { txFee: '1000000', createAssetTxFee: '10000000' },
  },
});

export const { table: nodeFeesTable } = nodeFees;
