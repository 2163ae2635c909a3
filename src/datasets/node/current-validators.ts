import type { Source } from '../contract.ts';
import { minute } from '../sources/durations.ts';

/** The primary network's id, and what an omitted `subnetID` means. */
export const PRIMARY_NETWORK = '11111111111111111111111111111111LpoYY';

/**
 * The validators of the primary network and of watched subnets as a node sees them (seed node-rpc 4.3). The node holds its P-chain lock
 * while it builds the answer of about 1 MB, so it is asked every few minutes at most (reality.md 4.3).
 */
export const currentValidators: Source = {
  name: 'current-validators',
  upstream: 'nodes',
  every: 10 * minute,
  weight: 0,
  calls: 1,
  targets: ({ nodes, watch }) =>
    nodes.flatMap((node) => [PRIMARY_NETWORK, ...watch.subnets].map((subnetId) => ({ node, subnetId }))),
  async *walk(ask, { subnetId }) {
    const params = subnetId === PRIMARY_NETWORK ? {} : { subnetID: subnetId };
    const body = await ask.rpc('/ext/bc/P', 'platform.getCurrentValidators', params);
    yield { body, proven: null, last: true, whole: true };
  },
};
