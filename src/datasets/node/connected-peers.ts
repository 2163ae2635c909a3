import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** Current peers of a node (info.peers). A response has about 0.4 MB on mainnet. */
export const connectedPeers = nodeMethod({
  name: 'connected-peers',
  path: '/ext/info',
  method: 'info.peers',
  every: 15 * minute,
});
