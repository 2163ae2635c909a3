import { nodeFees } from '../../src/datasets/node/fees.ts';
import { nodeIdentity } from '../../src/datasets/node/node-identity.ts';
import { nodeUpgrades } from '../../src/datasets/node/upgrades.ts';
import { Chance } from '../chance.ts';
import { Blocks } from './blocks.ts';
import { Peers } from './peers.ts';
import { Validators } from './validators.ts';

/** Size of the simulated network. */
export interface NetworkSize {
  readonly validators: number;
  /** Peers of each node. */
  readonly peers: number;
  /** Blocks a day. */
  readonly pBlocks: number;
  readonly xBlocks: number;
}

const CHAINS = 600;
const CHAINS_A_DAY = 0.5;
/** Maximum number of proposals, and of validators that vote on each. */
const PROPOSALS = [23, 24, 25, 30, 31, 41, 62, 75, 77, 83, 84, 99, 103, 118, 125, 131, 151, 176, 181, 194];
const VOICES = 5;

/**
 * A network with nodes that responds in this process, at any simulated time. Its changes are as frequent as on the main
 * network.
 */
export class SimulatedNetwork {
  readonly #chance = new Chance(12);
  readonly #validators: Validators;
  readonly #peers = new Map<string, Peers>();
  readonly #blocks: Readonly<Record<string, Blocks>>;
  readonly #nodes: readonly string[];
  readonly #chains: { subnet: object; chain: string }[] = [];
  #now: number;

  /** @param now seconds since 1970 */
  constructor(nodes: readonly string[], size: NetworkSize, now: number) {
    this.#nodes = nodes;
    this.#now = now;
    this.#validators = new Validators(this.#chance, size.validators, now);
    nodes.forEach((node, at) => {
      this.#peers.set(node, new Peers(new Chance(100 + at), this.#validators, size.peers, now));
    });
    this.#blocks = {
      platform: new Blocks(0, size.pBlocks, 22_000_000, now),
      avm: new Blocks(1, size.xBlocks, 600_000, now),
    };
    for (let n = 0; n < CHAINS; n++) this.#addChain(now - this.#chance.between(0, 300) * 86_400);
  }

  /** Advances the network to a time, in seconds since 1970. */
  advance(to: number): void {
    this.#validators.advance(to);
    for (const peers of this.#peers.values()) peers.advance(to);
    for (const blocks of Object.values(this.#blocks)) blocks.advance(to);
    for (
      let remaining = this.#chance.times((CHAINS_A_DAY * (to - this.#now)) / 86_400);
      remaining > 0;
      remaining--
    )
      this.#addChain(to);
    this.#now = to;
  }

  /** A node's response to a method of its RPC; undefined: unsupported. @param now seconds since 1970 */
  rpc(node: string, method: string, params: Readonly<Record<string, unknown>>, now: number): unknown {
    const [service = ''] = method.split('.');
    const blocks = this.#blocks[service];
    switch (method) {
      case 'platform.getCurrentValidators':
        return this.#validators.answer(this.#nodes.indexOf(node), now);
      case 'info.peers':
        return this.#peers.get(node)?.answer(now);
      case 'platform.getHeight':
      case 'avm.getHeight':
        return { height: String(blocks?.height) };
      case 'platform.getBlockByHeight':
      case 'avm.getBlockByHeight':
        return blocks?.answer(Number(params.height));
      case 'platform.getCurrentSupply':
        return { supply: String(this.#validators.supply), height: String(this.#blocks.platform?.height) };
      case 'info.uptime':
        return {
          rewardingStakePercentage: this.#percent(99.5),
          weightedAveragePercentage: this.#percent(98.5),
        };
      case 'info.acps':
        return { acps: Object.fromEntries(PROPOSALS.map((number, at) => [number, this.#votes(at)])) };
      case 'info.getTxFee':
        return nodeFees.example;
      case 'avm.getTxFee':
        return nodeFees.example.x;
      case 'info.upgrades':
        return nodeUpgrades.example;
      case 'info.getNodeID':
        return { ...nodeIdentity.example, nodeID: this.#nodeId(node) };
      case 'info.getNodeIP':
      case 'info.getNodeVersion':
      case 'info.getNetworkID':
      case 'info.getNetworkName':
      case 'info.getVMs':
        return {};
      case 'platform.getBlockchains':
        return { blockchains: this.#chains.map(({ chain }, at) => ({ id: chain, name: `chain ${at}` })) };
      case 'platform.getBlockchainStatus':
        return { status: 'Created' };
      default:
        return undefined;
    }
  }

  /** The response of the data service; undefined: an unknown path. */
  get(path: string): unknown {
    return path.endsWith('/subnets') ? { subnets: this.#chains.map(({ subnet }) => subnet) } : undefined;
  }

  /** Constant for hours, with small changes. */
  #percent(mean: number): string {
    return (mean + (Math.floor(this.#now / 10_800) % 7) / 1_000).toFixed(4);
  }

  /** The stake of a report without changes changes with every delegation. */
  #votes(at: number) {
    const voices = this.#validators.all
      .slice(at * 7, at * 7 + (at % (VOICES + 1)))
      .map(({ nodeId }) => nodeId);
    const total = this.#validators.all.reduce(
      (sum, { delegated, online }) => sum + (online ? delegated : 0n),
      0n,
    );
    return {
      supportWeight: String(voices.length * 2_000_000_000_000),
      supporters: voices,
      objectWeight: '0',
      objectors: [],
      abstainWeight: String(161_147_778_098_286_584n + total),
    };
  }

  #nodeId(node: string): string {
    return new Chance(this.#nodes.indexOf(node)).nodeId();
  }

  #addChain(created: number): void {
    const chance = this.#chance;
    const subnetId = chance.id();
    const blockchainId = chance.id();
    const evmChainId = chance.between(10_000, 999_999);
    this.#chains.push({
      chain: blockchainId,
      subnet: {
        createBlockTimestamp: created,
        createBlockIndex: String(chance.between(1_000_000, 22_000_000)),
        subnetId,
        subnetOwnershipInfo: { locktime: 0, threshold: 1, addresses: [chance.address().slice(2)] },
        isL1: false,
        blockchains: [
          {
            createBlockTimestamp: created,
            createBlockNumber: String(chance.between(1_000_000, 22_000_000)),
            blockchainId,
            vmId: chance.id(),
            subnetId,
            blockchainName: `chain ${this.#chains.length}`,
            evmChainId,
            genesisData: genesis(chance, evmChainId),
          },
        ],
      },
    });
  }
}

/** About 2 kB as JSON. */
function genesis(chance: Chance, chainId: number): unknown {
  const alloc = Array.from({ length: 12 }, () => [chance.hex(20).slice(2), { balance: chance.hex(10) }]);
  return {
    config: {
      chainId,
      feeConfig: { gasLimit: 15_000_000, minBaseFee: 25_000_000_000, targetGas: 15_000_000 },
    },
    alloc: Object.fromEntries(alloc),
    gasLimit: '0xe4e1c0',
    extraData: chance.hex(200),
    timestamp: '0x0',
  };
}
