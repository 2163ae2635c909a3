import type { Source } from '../contract.ts';
import { minute } from '../sources/durations.ts';
import { oneAnswer } from '../sources/one-answer.ts';

/** The peers that a node is connected to now (seed node-rpc 4.2, info.peers); about 0.4 MB on a main network. */
export const connectedPeers: Source = {
  name: 'connected-peers',
  upstream: 'nodes',
  every: 15 * minute,
  weight: 0,
  calls: 1,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  walk: (ask) => oneAnswer(() => ask.rpc('/ext/info', 'info.peers')),
};
