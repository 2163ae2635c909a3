import { type UpstreamServer, upstreamServer } from '../../support/upstream-server.ts';

const PEER = 'NodeID-PhKF5xGeEucL37wScc3up7fo64PToxaf3';

/** A node as it reports itself. */
export interface ReportedNode {
  readonly id: string;
  readonly network?: number;
  /** Name of the chain, and prefix of the ids of its blocks. */
  readonly genesis?: string;
  /** Height of its newest block. */
  readonly head?: number;
}

/**
 * Starts a server behind whose URL a node responds, selected again for each request.
 * @param hasHeader responses have the header `node-id`
 * @param isRefused requests of the node id that are answered with 403
 */
export function nodeServer(
  selectNode: (request: number) => ReportedNode,
  hasHeader = true,
  isRefused: (request: number) => boolean = () => false,
): Promise<UpstreamServer> {
  return upstreamServer(({ body, number }, response) => {
    const { id: nodeID, network = 1, genesis = 'genesis-1', head = 0 } = selectNode(number);
    response.setHeader('content-type', 'application/json');
    if (hasHeader) response.setHeader('node-id', nodeID);
    if (body === '') return response.end('{"checks":{},"healthy":true}');
    const { id, method, params } = JSON.parse(body);
    if (method === 'info.getNodeID' && isRefused(number)) return response.writeHead(403).end();
    const height = Number(params?.height ?? 0);
    const blockId = (at: number) => (at === 0 ? genesis : `${genesis}-${at}`);
    const ip = `${nodeID}.example:9651`;
    const results: Record<string, object> = {
      'info.getNodeID': { nodeID },
      'info.getNodeIP': { ip },
      'info.getNodeVersion': { version: `version of ${nodeID}` },
      'info.getNetworkID': { networkID: String(network) },
      'info.getNetworkName': { networkName: 'a name' },
      'info.getVMs': { vms: {} },
      'info.peers': {
        numPeers: '1',
        peers: [{ ip, nodeID: PEER, version: `peer of ${nodeID}`, trackedSubnets: [] }],
      },
      'platform.getHeight': { height: head },
      'platform.getBlockByHeight': {
        block: { height, id: blockId(height), parentID: blockId(height - 1), txs: [{ id: `by ${nodeID}` }] },
      },
    };
    const result = results[method];
    return response.end(
      JSON.stringify(
        result
          ? { jsonrpc: '2.0', id, result }
          : { jsonrpc: '2.0', id, error: { code: -32000, message: 'no' } },
      ),
    );
  });
}
