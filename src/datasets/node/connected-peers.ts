import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** The peers that a node is connected to now (seed node-rpc 4.2, info.peers); about 0.4 MB on a main network. */
export const connectedPeers = nodeMethod({
  name: 'connected-peers',
  path: '/ext/info',
  method: 'info.peers',
  every: 15 * minute,
});
