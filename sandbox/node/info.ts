import { namedBytes } from '../ids/base58.ts';
import type { JsonObject } from '../json.ts';
import { NETWORK_ID, vmId } from '../network/primary-chains.ts';
import type { NodeIdentity } from '../network/validators.ts';
import { between, mix, unit } from '../random.ts';
import { type Methods, RpcFailure } from './json-rpc.ts';
import { nodeVersion, release, upgrades } from './releases.ts';
import { isBootstrapped, type SimulatedNode, visibleMembers } from './simulated-node.ts';
import { isConnected, observedUptime } from './validator-records.ts';

const ALIASES: Readonly<Record<string, string>> = {
  P: 'p-chain',
  platform: 'p-chain',
  X: 'x-chain',
  avm: 'x-chain',
  C: 'c-chain',
  evm: 'c-chain',
};

/** Returns the blockchain id of an alias or id. Returns undefined if nodes do not accept the text. */
export function blockchainId(node: SimulatedNode, alias: string): string | undefined {
  const primary = node.network.chain(ALIASES[alias] ?? alias);
  if (primary !== undefined && !alias.endsWith('-chain')) return primary.blockchainId;
  const chains = node.network.subnets.flatMap((subnet) => subnet.chains);
  return chains.find((chain) => chain.blockchainId === alias)?.blockchainId;
}

function knownBlockchain(node: SimulatedNode, alias: string): string {
  const id = blockchainId(node, alias);
  if (id === undefined) throw new RpcFailure(`there is no ID with alias ${alias}`);
  return id;
}

function ip(node: NodeIdentity): string {
  const octets = namedBytes(0, node.nodeId, 3);
  return `10.${octets.join('.')}:9651`;
}

function ago(sec: number, seconds: number): string {
  return new Date((sec - seconds) * 1000).toISOString().replace('.000', '');
}

function peer(node: SimulatedNode, other: NodeIdentity, sec: number): JsonObject {
  const tracked = node.network.subnets
    .slice(1)
    .filter((subnet) => mix(node.network.seed, other.seat, subnet.number, 71) % 4 === 0);
  const { facts } = node.network;
  const port = between(node.seed, 32_768, 60_999, other.seat, Math.floor(sec / 900), 80);
  const inbound = facts.has('peers-ephemeral-ports', sec, node.name) && other.seat % 2 === 1;
  const uptimes = tracked.map((subnet): [string, string] => [
    subnet.subnetId,
    String(Math.floor(observedUptime(node, other.seat, sec + subnet.number))),
  ]);
  return {
    ip: inbound ? ip(other).replace('9651', String(port)) : ip(other),
    publicIP: ip(other),
    nodeID: other.nodeId,
    version: `avalanchego/${release(node, sec, other.seat)}`,
    upgradeTime: 1_763_568_000,
    lastSent: ago(sec, mix(node.seed, other.seat, sec, 72) % 20),
    lastReceived: ago(sec, mix(node.seed, other.seat, sec, 73) % 20),
    observedUptime: String(Math.floor(observedUptime(node, other.seat, sec))),
    observedSubnetUptimes: facts.has('peers-subnet-uptimes', sec, node.name)
      ? Object.fromEntries(uptimes)
      : undefined,
    trackedSubnets: tracked.map((subnet) => subnet.subnetId),
    supportedACPs: [],
    objectedACPs: mix(node.network.seed, other.seat, 74) % 9 === 0 ? [30] : [],
    benched: mix(node.seed, other.seat, Math.floor(sec / 600), 75) % 60 === 0 ? ['X'] : [],
  };
}

function proposals(node: SimulatedNode, sec: number): JsonObject {
  const total = node.network.validators.current(sec).reduce((sum, stake) => sum + stake.weight, 0n);
  const nodes = node.network.validators.nodes;
  const entries = [23, 24, 30, 41, 62].map((number): [string, JsonObject] => {
    const supporters = nodes.filter((_, seat) => mix(node.network.seed, seat, number, 76) % 12 === 0);
    const objectors = nodes.filter((_, seat) => number === 30 && mix(node.network.seed, seat, 74) % 9 === 0);
    const weight = (some: readonly NodeIdentity[]): bigint =>
      (total * BigInt(some.length)) / BigInt(nodes.length);
    return [
      String(number),
      {
        supportWeight: String(weight(supporters)),
        supporters: supporters.map((one) => one.nodeId).sort(),
        objectWeight: String(weight(objectors)),
        objectors: objectors.map((one) => one.nodeId).sort(),
        abstainWeight: String(total - weight(supporters) - weight(objectors)),
      },
    ];
  });
  return { acps: Object.fromEntries(entries) };
}

/** The fees of the X-chain in nAVAX. */
export const X_FEES = { txFee: '1000000', createAssetTxFee: '10000000' };

/** Returns the methods of the info API of a node. */
export function infoMethods(node: SimulatedNode): Methods {
  const { identity, network } = node;
  return {
    'info.acps': (_, sec) => proposals(node, sec),
    'info.isBootstrapped': (params, sec) => {
      if (params.text('chain') === '') throw new RpcFailure("argument 'chain' not given");
      knownBlockchain(node, params.text('chain'));
      return { isBootstrapped: isBootstrapped(node, sec) };
    },
    'info.getBlockchainID': (params) => ({ blockchainID: knownBlockchain(node, params.text('alias')) }),
    'info.getNetworkID': () => ({ networkID: String(NETWORK_ID[network.name]) }),
    'info.getNetworkName': () => ({ networkName: network.name }),
    'info.getNodeID': () => ({
      nodeID: identity.nodeId,
      nodePOP: { publicKey: identity.publicKey, proofOfPossession: identity.proofOfPossession },
    }),
    'info.getNodeIP': () => ({ ip: ip(identity) }),
    'info.getNodeVersion': (_, sec) => nodeVersion(node, sec),
    'info.getTxFee': () => ({
      ...X_FEES,
      createSubnetTxFee: '1000000000',
      transformSubnetTxFee: '10000000000',
      createBlockchainTxFee: '1000000000',
      addPrimaryNetworkValidatorFee: '0',
      addPrimaryNetworkDelegatorFee: '0',
      addSubnetValidatorFee: '1000000',
      addSubnetDelegatorFee: '1000000',
    }),
    'info.getVMs': () => {
      const of = (names: readonly string[]): JsonObject =>
        Object.fromEntries(names.map((name) => [vmId(name), [name]]));
      return { vms: of(['avm', 'evm', 'platform']), fxs: of(['secp256k1fx', 'nftfx', 'propertyfx']) };
    },
    'info.peers': (params, sec) => {
      const requested = params.nodeIds('nodeIDs');
      const connected = network.validators.nodes.filter(
        (other) => other.seat !== identity.seat && isConnected(node, other.seat, sec),
      );
      const peers = visibleMembers(node, connected, sec).filter(
        (other) => requested.length === 0 || requested.includes(other.nodeId),
      );
      return { numPeers: String(peers.length), peers: peers.map((other) => peer(node, other, sec)) };
    },
    'info.uptime': (_, sec) => {
      if (identity.seat < 0) throw new RpcFailure("couldn't get node uptime: node is not a validator");
      const rewarding = 97 + 3 * unit(node.seed, Math.floor(sec / 600), 77);
      const average =
        99 +
        unit(node.seed, Math.floor(sec / 60), 78) -
        between(node.seed, 0, 3, Math.floor(sec / 86_400), 79) / 10;
      return {
        rewardingStakePercentage: rewarding.toFixed(4),
        weightedAveragePercentage: average.toFixed(4),
      };
    },
    'info.upgrades': () => upgrades(),
  };
}
