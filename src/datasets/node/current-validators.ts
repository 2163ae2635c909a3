import type { Target } from '../contract.ts';
import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** The primary network's id, and what an omitted `subnetID` means. */
export const PRIMARY_NETWORK = '11111111111111111111111111111111LpoYY';

/** The parameters of a method that is about a subnet; without them it is about the primary network. */
export const aboutSubnet = ({ subnetId }: Target) =>
  subnetId === PRIMARY_NETWORK ? {} : { subnetID: subnetId };

/**
 * The validators of the primary network and of watched subnets as a node sees them (seed node-rpc 4.3). The node holds its P-chain lock
 * while it builds the answer of about 1 MB, so it is asked every few minutes at most (reality.md 4.3).
 */
export const currentValidators = nodeMethod({
  name: 'current-validators',
  path: '/ext/bc/P',
  method: 'platform.getCurrentValidators',
  every: 10 * minute,
  about: ({ watch }) => [PRIMARY_NETWORK, ...watch.subnets].map((subnetId) => ({ subnetId })),
  params: aboutSubnet,
});
