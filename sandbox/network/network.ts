import type { Facts } from '../facts.ts';
import { type IdSpaces, idSpaces } from '../ids/spaces.ts';
import type { JsonObject } from '../json.ts';
import { derive } from '../random.ts';
import { Accounts } from './accounts.ts';
import { type Asset, assets } from './assets.ts';
import { Blocks } from './blocks.ts';
import { genesisData } from './genesis.ts';
import { Holdings } from './holdings.ts';
import {
  ADDRESS_PREFIX,
  type NetworkName,
  PRIMARY_CHAINS,
  type PrimaryChain,
  primaryChain,
} from './primary-chains.ts';
import { type Subnet, type SubnetChain, subnets } from './subnets.ts';
import { Utxos } from './utxos.ts';
import { Validators } from './validators.ts';

/** Parameters of a network. Times are in Unix seconds. */
export interface NetworkPlan {
  readonly name: NetworkName;
  readonly seed: number;
  readonly genesisSec: number;
  readonly validators: number;
  /** Number of blocks that each validator proposes per hour on each primary-network chain. */
  readonly blocksPerHour: number;
  /** Number of UTXOs of the first account on the X-chain. */
  readonly utxos: number;
  readonly facts: Facts;
}

/** One simulated network. Every part of the network is a function of the plan and of the requested time. */
export class Network {
  readonly name: NetworkName;
  readonly seed: number;
  readonly genesisSec: number;
  readonly facts: Facts;
  readonly ids: IdSpaces;
  readonly accounts: Accounts;
  readonly validators: Validators;
  readonly subnets: readonly Subnet[];
  readonly assets: readonly [Asset, ...Asset[]];
  readonly utxos: Utxos;
  readonly holdings: Holdings;
  readonly #blocks: readonly Blocks[];

  constructor(plan: NetworkPlan) {
    this.name = plan.name;
    this.seed = derive(plan.seed, plan.name);
    this.genesisSec = plan.genesisSec;
    this.facts = plan.facts;
    this.ids = idSpaces(this.seed);
    this.accounts = new Accounts(this.seed, ADDRESS_PREFIX[plan.name]);
    this.validators = new Validators(
      this.seed,
      plan.genesisSec,
      plan.validators,
      this.ids.primary,
      this.accounts,
      plan.facts,
    );
    this.subnets = subnets(this.seed, plan.genesisSec, this.ids.primary, this.validators);
    this.assets = assets(this.seed);
    this.utxos = new Utxos(this.seed, plan.genesisSec, this.accounts, this.assets, plan.utxos);
    this.holdings = new Holdings(this.seed, plan.name, this.assets, this.validators, this.utxos);
    this.#blocks = PRIMARY_CHAINS[plan.name].map(
      (chain) => new Blocks(this.seed, chain, plan.genesisSec, plan.blocksPerHour, this.ids, this.validators),
    );
  }

  /** Returns the genesis of a subnet's chain in responses at a time. Both times are in Unix seconds. */
  genesisData(chain: SubnetChain, createdAt: number, sec: number): JsonObject | string {
    const data = genesisData(chain, createdAt);
    const encoded = typeof data === 'string' && this.facts.has('genesis-data-encoded', sec);
    return encoded ? { encoding: 'base64', data } : data;
  }

  /** Returns the locktime of outputs and owners at a time (Unix seconds): 0, or the maximum. */
  locktime(sec: number): bigint {
    return this.facts.has('locktime-forever', sec) ? 2n ** 64n - 1n : 0n;
  }

  /** Returns a primary-network chain by alias or blockchain id. */
  chain(idOrAlias: string): PrimaryChain | undefined {
    return primaryChain(this.name, idOrAlias);
  }

  /** Returns the blocks of a primary-network chain. */
  blocks(chain: PrimaryChain): Blocks {
    const blocks = this.#blocks[chain.number];
    if (blocks === undefined) throw new Error(`no chain ${chain.alias}`);
    return blocks;
  }

  /**
   * Yields the hashes of the blocks that a node proposed on a chain, oldest first, directly from the model.
   * The timestamps are from `fromSec` (inclusive) to `toSec` (inclusive), in Unix seconds.
   */
  *proposedBlockHashes(nodeId: string, chain: string, fromSec: number, toSec: number): Generator<string> {
    const primary = this.chain(chain);
    const node = this.validators.node(nodeId);
    if (primary === undefined || node === undefined) return;
    const blocks = this.blocks(primary);
    const end = blocks.countUntil(node.seat, toSec);
    for (let i = blocks.countUntil(node.seat, fromSec - 1); i < end; i += 1) {
      yield blocks.hash(blocks.proposers.height(node.seat, i));
    }
  }

  /** Returns the number of hashes that proposedBlockHashes returns. */
  proposedBlockCount(nodeId: string, chain: string, fromSec: number, toSec: number): number {
    const primary = this.chain(chain);
    const node = this.validators.node(nodeId);
    if (primary === undefined || node === undefined) return 0;
    const blocks = this.blocks(primary);
    return Math.max(0, blocks.countUntil(node.seat, toSec) - blocks.countUntil(node.seat, fromSec - 1));
  }
}
