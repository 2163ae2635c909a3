import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { hex, json, object, optional, text, uint } from '../fields.ts';
import { getEntries } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { OptionalMethods } from '../sources/optional-methods.ts';
import { singleResponsePage } from '../sources/single-response.ts';

const METHODS = [
  'info.getNodeID',
  'info.getNodeIP',
  'info.getNodeVersion',
  'info.getNetworkID',
  'info.getNetworkName',
  'info.getVMs',
];

/** Identity of a node, from six methods of its info API. Methods that the node does not offer are skipped. */
const source: Source = {
  name: 'node-identity',
  upstream: 'nodes',
  every: hour,
  weight: 0,
  calls: METHODS.length,
  targets: ({ nodes }) => nodes.map((node) => ({ node })),
  async *walk(client) {
    const offered = new OptionalMethods(client);
    const results = [];
    for (const method of METHODS) results.push(...getEntries(await offered.rpc('/ext/info', method)));
    offered.requireAny(METHODS);
    yield singleResponsePage(Object.fromEntries(results), offered.refused);
  },
};

export const nodeIdentity = defineDataset({
  name: 'node_identity',
  about: 'Identity that a node reports: id, address, versions, network, virtual machines.',
  operations: METHODS,
  history: 'state',
  source,
  request: ['node'],
  key: ['node'],
  items: (body) => [body],
  item: object({
    nodeID: optional(text()),
    nodePOP: optional(object({ publicKey: optional(hex()), proofOfPossession: optional(hex()) })),
    ip: optional(text('Address with port.')),
    version: optional(text()),
    databaseVersion: optional(text()),
    gitCommit: optional(text()),
    rpcProtocolVersion: optional(uint()),
    vmVersions: optional(json('Version by virtual machine.')),
    networkID: optional(uint()),
    networkName: optional(text()),
    vms: optional(json('Aliases by the id of the virtual machine.')),
    fxs: optional(json('Aliases by the id of the feature extension.')),
  }),
  example: {
    nodeID: 'NodeID-5mb46qkSBj81k9g9e4VFjGGSbaaSLFRzD',
    nodePOP: {
      publicKey: '0x8f95423f7142d00a48e1014a3de8d289',
      proofOfPossession: '0x86a3ab4c45cfe31cae34c1d06f212434',
    },
    ip: '192.0.2.1:9651',
    version: 'avalanchego/1.14.2',
    databaseVersion: 'v1.4.5',
    rpcProtocolVersion: '44',
    gitCommit: '79cd09ba728e1cecef40acd60702f0a2d41ea404',
    vmVersions: { avm: 'v1.14.2', evm: 'v0.16.0', platform: 'v1.14.2' },
    networkID: '1',
    networkName: 'mainnet',
    vms: { jvYyfQTxGMJLuGWa55kdP2p2zSUYsQ5Raupu4TW34ZAUBAbtq: ['avm'] },
    fxs: { spdxUxVJQbX85MGxMHbKw1sHxMnSqJ3QBzDyDYEP3h6TLuxqQ: ['secp256k1fx'] },
  },
});

export const { table: nodeIdentityTable } = nodeIdentity;
