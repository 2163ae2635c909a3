import { defineDataset } from '../dataset.ts';
import { object, optional, uint } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';
import { PRIMARY_NETWORK } from './current-validators.ts';

/** Supply of the token of the primary network (platform.getCurrentSupply). */
const source = nodeMethod({
  name: 'current-supply',
  path: '/ext/bc/P',
  method: 'platform.getCurrentSupply',
  every: 10 * minute,
  about: () => [{ subnetId: PRIMARY_NETWORK }],
  params: ({ subnetId }) => ({ subnetID: subnetId }),
});

export const currentSupply = defineDataset({
  name: 'current_supply',
  about: 'Upper bound of the token supply of a network, as reported by a node.',
  operations: ['platform.getCurrentSupply'],
  history: 'sample',
  source,
  request: ['node', 'subnetId'],
  key: ['node', 'subnet_id'],
  everyNode: { own: [], at: 'height' },
  items: (body) => [body],
  item: object({
    supply: uint('In nAVAX on the primary network; burned tokens and fees are not subtracted.'),
    height: optional(uint('Height of the P-chain at which the supply holds.')),
  }),
  example: { supply: '365865167637779183', height: '15210400' },
});

export const { table: currentSupplyTable } = currentSupply;
