import { defineDataset } from '../dataset.ts';
import { decimal, object, optional, rfc3339, text } from '../fields.ts';
import { getEntries, getList, getMember } from '../sources/answer.ts';
import { connectedPeers } from './connected-peers.ts';
import { PRIMARY_NETWORK } from './current-validators.ts';

/**
 * Returns the readings of a peer: one of the primary network, and one of each other subnet in
 * `observedSubnetUptimes`, which nodes of releases 1.9 and 1.10 send.
 */
function readingsOf(peer: unknown): unknown[] {
  const ofSubnets = getEntries(getMember(peer, 'observedSubnetUptimes')).filter(
    ([id]) => id !== PRIMARY_NETWORK,
  );
  return [
    Object.assign({}, peer, { subnetID: PRIMARY_NETWORK }),
    ...ofSubnets.map(([subnetID, observedUptime]) => ({
      nodeID: getMember(peer, 'nodeID'),
      subnetID,
      observedUptime,
    })),
  ];
}

/** Values that change with every observation of a peer. The properties of a peer are in peers. */
export const peerReadings = defineDataset({
  name: 'peer_readings',
  about:
    'Times of the last messages between a node and a peer, and the uptime of the node that the peer observed.',
  operations: ['info.peers'],
  history: 'sample',
  source: connectedPeers,
  request: ['node'],
  key: ['node', 'node_id', 'subnet_id'],
  items: (body) => getList(body, 'peers', 'numPeers', 'total').flatMap(readingsOf),
  extra: false,
  item: object({
    nodeID: text(),
    subnetID: text('Subnet of the uptime. The times of messages are those of the primary network.'),
    lastSent: optional(rfc3339('Time at which the node last sent a message to the peer.')),
    lastReceived: optional(rfc3339('Time at which the node last received a message from the peer.')),
    observedUptime: optional(decimal('Uptime of this node as observed by the peer, in percent.')),
  }),
  example: {
    subnetID: PRIMARY_NETWORK,
    nodeID: 'NodeID-8PYXX47kqLDe2wD4oPbvRRchcnSzMA4J4',
    lastSent: '2025-11-20T15:23:02Z',
    lastReceived: '2025-11-20T15:22:57Z',
    observedUptime: '99',
  },
});

export const { table: peerReadingsTable } = peerReadings;
