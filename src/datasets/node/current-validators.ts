import type { Target } from '../contract.ts';
import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** Id of the primary network, which is the default of `subnetID`. */
export const PRIMARY_NETWORK = '11111111111111111111111111111111LpoYY';

/**
 * Returns the parameters of a method for a subnet. Without parameters, the method returns the validators of
 * the primary network.
 */
export const subnetParams = ({ subnetId }: Target) =>
  subnetId === PRIMARY_NETWORK ? {} : { subnetID: subnetId };

/**
 * Validators of the primary network and of watched subnets, as reported by a node. The
 * node holds its P-chain lock while it builds the response of about 1 MB, so that it is queried only every
 * few minutes (upstream-services.md#validators-and-peers).
 */
export const currentValidators = nodeMethod({
  name: 'current-validators',
  path: '/ext/bc/P',
  method: 'platform.getCurrentValidators',
  every: 10 * minute,
  about: ({ watch }) => [PRIMARY_NETWORK, ...watch.subnets].map((subnetId) => ({ subnetId })),
  params: subnetParams,
});
