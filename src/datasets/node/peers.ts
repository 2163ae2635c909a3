import { defineDataset } from '../dataset.ts';
import { object, optional, set, text, unixSeconds } from '../fields.ts';
import { getList } from '../sources/answer.ts';
import { connectedPeers } from './connected-peers.ts';

/**
 * Peers without `lastSent`, `lastReceived`, `observedUptime` and `observedSubnetUptimes`, which are in
 * peer_readings.
 */
export const peers = defineDataset({
  name: 'peers',
  about: 'Peers of a node, with all arrivals, changes and departures.',
  operations: ['info.peers'],
  history: 'state',
  source: connectedPeers,
  request: ['node'],
  key: ['node', 'node_id'],
  seldom: ['tracked_subnets', 'supported_acps', 'objected_acps', 'benched'],
  items: (body) => getList(body, 'peers', 'numPeers', 'total'),
  ignore: ['lastSent', 'lastReceived', 'observedUptime', 'observedSubnetUptimes'],
  item: object({
    nodeID: text(),
    ip: optional(text('Address with port of the connection.')),
    publicIP: optional(text('Address with port that the peer reports.')),
    version: optional(text()),
    upgradeTime: optional(unixSeconds('Time of the next upgrade in the configuration of the peer.')),
    trackedSubnets: optional(set()),
    supportedACPs: optional(set(undefined, 'Numbers of proposals.')),
    objectedACPs: optional(set(undefined, 'Numbers of proposals.')),
    benched: optional(set(undefined, 'Chains whose requests are not sent to the peer for now.')),
  }),
  example: {
    ip: '206.189.137.87:9651',
    publicIP: '206.189.137.87:9651',
    nodeID: 'NodeID-8PYXX47kqLDe2wD4oPbvRRchcnSzMA4J4',
    version: 'avalanchego/1.14.2',
    upgradeTime: 1763568000,
    lastSent: '2025-11-20T15:23:02Z',
    lastReceived: '2025-11-20T15:22:57Z',
    observedUptime: '99',
    trackedSubnets: ['29uVeLPJB1eQJkzRemU8g8wZDw5uJRqpab5U2mX9euieVwiEbL'],
    supportedACPs: [],
    objectedACPs: [30],
    benched: ['X'],
  },
});

export const { table: peersTable } = peers;
