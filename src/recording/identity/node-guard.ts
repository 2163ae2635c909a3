import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { NETWORK_IDS } from '../../config/networks.ts';
import { memberOf } from '../../datasets/sources/answer.ts';
import type { Clock } from '../../lib/clock.ts';
import { type FailureKind, UpstreamFailure } from '../../upstreams/failure.ts';
import {
  bindNode,
  boundNodeId,
  type ConfiguredNode,
  differenceOf,
  differsStill,
  loadBinding,
  type NodeBinding,
  type NodeIdentity,
  noteDifference,
} from './node-binding.ts';

/** Calls a JSON-RPC method of the node. @throws UpstreamFailure when there is no result */
export type CallNode = (
  path: string,
  method: string,
  params?: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** For so long, ms, what was found out about a node's network and its binding holds, unless its connection fails. */
const VERIFIED_FOR = 10_000;
/** A node without the header `node-id` is not recorded for so long, ms, after another one answered in its place. */
const UNMARKED_WAIT = 60_000;
/** Interval of the verification of a node whose health is probed, ms: a little less than a minute, so that each minute has one. */
const VERIFY_PROBES_EVERY = 50_000;
/** The longest that a probe waits for it, ms. */
const MAX_WAIT_OF_PROBE = 2_000;

/** Another node answered than the one that a configured name is bound to. */
export class AnotherNode extends UpstreamFailure {
  /** The id of the node that answered; null: several answered, or its network is another one. */
  readonly nodeId: string | null;

  constructor(message: string, nodeId: string | null) {
    super('identity', message);
    this.nodeId = nodeId;
  }
}

/** The answer to a health probe. */
export interface ProbedNode {
  /** The node id that the answer carries; null: none. */
  readonly nodeId: string | null;
  /** Something answered at all. */
  readonly hasAnswered: boolean;
}

/** Verifies that what answers at a node's URL is the node that its configured name stands for. One a node and process. */
export class NodeGuard {
  readonly node: ConfiguredNode;
  readonly #sql: postgres.Sql;
  readonly #clock: Clock;
  #binding: NodeBinding | null = null;
  #loadedAt = Number.NEGATIVE_INFINITY;
  /** Network and genesis, of which node id, as they were found out last. */
  #place: (NodeIdentity & { readonly at: number }) | null = null;

  /** The last verification at a slow rate, and the failure that it ended with. */
  #slow: { readonly at: number; readonly nodeId: string | null; failure: UpstreamFailure | null } | null =
    null;

  constructor(sql: postgres.Sql, node: ConfiguredNode, clock: Clock) {
    this.#sql = sql;
    this.node = node;
    this.#clock = clock;
  }

  /** The node id that the name is bound to, as far as this process knows; null: unknown. */
  get expected(): string | null {
    return boundNodeId(this.node, this.#binding);
  }

  /** The connection failed, or the node refused it: the node may be another one afterwards. */
  doubt(): void {
    this.#place = null;
  }

  /**
   * Verifies a node by its id and, at a slower rate, by its network and its genesis.
   * @param nodeId as its answers say; null: they do not, or the node does not report it
   * @param isMarked the answers carried the id themselves
   * @param call to request network and genesis; null: they were verified by the same run
   * @throws UpstreamFailure (identity) when the name does not stand for what answered
   */
  async verify(nodeId: string | null, isMarked: boolean, call: CallNode | null): Promise<void> {
    const now = this.#clock();
    if (now - this.#loadedAt >= VERIFIED_FOR || now < this.#loadedAt) {
      this.#binding = await loadBinding(this.#sql, this.node.name);
      this.#loadedAt = now;
    }
    const seen = call
      ? await this.#identify(nodeId, call, now)
      : { nodeId, networkId: null, genesisId: null };
    const difference = differenceOf(this.node, this.#binding, seen);
    if (difference !== null) await this.#refuse(difference, this.#otherThanBound(seen));
    if (!isMarked && this.#binding && differsStill(this.node, this.#binding, now, UNMARKED_WAIT))
      throw new UpstreamFailure('identity', this.#binding.difference ?? 'another node answered');
    if (seen.nodeId === null && seen.networkId === null) return;
    this.#binding = await bindNode(this.#sql, this.node, this.#binding, seen, now);
    // Another process may have bound the name to another node meanwhile.
    const late = differenceOf(this.node, this.#binding, seen);
    if (late !== null) await this.#refuse(late, this.#otherThanBound(seen));
  }

  /**
   * Verifies once a minute, for probes. A failure without an answer belongs to the node that answered last.
   * @throws UpstreamFailure (identity) when the probe was not answered by the node that the name is bound to
   */
  async slowly({ nodeId, hasAnswered }: ProbedNode, verify: () => Promise<void>): Promise<void> {
    const now = this.#clock();
    const last = this.#slow;
    const isRecent = last && now >= last.at && now - last.at < VERIFY_PROBES_EVERY;
    if (!hasAnswered || (isRecent && last.nodeId === nodeId)) {
      if (last?.failure) throw last.failure;
      return;
    }
    const slow: NonNullable<typeof last> = { at: now, nodeId, failure: null };
    this.#slow = slow;
    try {
      await Promise.race([verify(), delay(MAX_WAIT_OF_PROBE, undefined, { ref: false })]);
      if (nodeId !== null && this.expected !== null && nodeId !== this.expected)
        await this.refuseNode(nodeId, nodeId);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.kind !== 'identity') throw error;
      // Which node answered the calls of the verification does not matter if the probe's answer carries its id.
      if (error instanceof AnotherNode && nodeId !== null && nodeId === this.expected) return;
      slow.failure = error;
      throw error;
    }
  }

  /** Notes that an answer came from another node. @param author the node that sent all answers; null: several did @throws AnotherNode */
  async refuseNode(nodeId: string, author: string | null = null): Promise<never> {
    const seen = { nodeId, networkId: null, genesisId: null };
    const several = `another node: ${nodeId} and ${this.expected ?? 'another one'} answer at the URL of ${this.node.name}: give it a URL of one node`;
    return this.#refuse(differenceOf(this.node, this.#binding, seen) ?? several, author);
  }

  /** Stores a difference. @throws AnotherNode with it */
  async #refuse(difference: string, author: string | null): Promise<never> {
    this.#place = null;
    this.#binding = await noteDifference(this.#sql, this.node, this.#binding, difference, this.#clock());
    throw new AnotherNode(difference, author);
  }

  /** The id of a node of the configured network that is not the one that the name is bound to; null: it is, or of another network. */
  #otherThanBound({ nodeId, networkId }: NodeIdentity): string | null {
    const isOfNetwork = networkId === null || networkId === NETWORK_IDS[this.node.network];
    return isOfNetwork && nodeId !== this.expected ? nodeId : null;
  }

  /** Network and genesis are requested before the first run, after a failed connection, and when they were not for a while. */
  async #identify(nodeId: string | null, call: CallNode, now: number): Promise<NodeIdentity> {
    const known = this.#place;
    if (known && known.nodeId === nodeId && now >= known.at && now - known.at < VERIFIED_FOR) return known;
    const networkId = await ifOffered(async () =>
      Number(String(memberOf(await call('/ext/info', 'info.getNetworkID'), 'networkID'))),
    );
    // A chain that is not bootstrapped yet answers 503, and the other APIs of the node are recorded meanwhile.
    const genesisId = await ifOffered(async () => {
      const params = { height: 0, encoding: 'json' };
      return memberOf(memberOf(await call('/ext/bc/P', 'platform.getBlockByHeight', params), 'block'), 'id');
    }, 'server');
    const seen = {
      nodeId,
      networkId: Number.isSafeInteger(networkId) ? (networkId ?? null) : null,
      genesisId: typeof genesisId === 'string' ? genesisId : null,
    };
    this.#place = { ...seen, at: now };
    return seen;
  }
}

/** The result of a call; null if it fails because the node does not offer it, or by `also`. @throws UpstreamFailure when it fails otherwise */
export async function ifOffered<T>(call: () => Promise<T>, also?: FailureKind): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof UpstreamFailure && (NOT_THERE.has(error.kind) || error.kind === also)) return null;
    throw error;
  }
}

/** Failures by which a node, or a proxy before it, does not let a method through. */
const NOT_THERE: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'not-offered',
  'rpc',
  'not-found',
  'auth',
  'bad-request',
  'malformed',
  'redirect',
]);
