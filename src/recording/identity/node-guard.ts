import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { NETWORK_IDS } from '../../config/networks.ts';
import { getMember } from '../../datasets/sources/answer.ts';
import type { Clock } from '../../lib/clock.ts';
import { type FailureKind, UpstreamFailure } from '../../upstreams/failure.ts';
import {
  bindNode,
  boundNodeId,
  type ConfiguredNode,
  findDifference,
  isDifferenceRecent,
  loadBinding,
  type NodeBinding,
  type NodeIdentity,
  storeDifference,
} from './node-binding.ts';

/**
 * Calls a JSON-RPC method of the node.
 * @throws UpstreamFailure if there is no result
 */
export type CallNode = (
  path: string,
  method: string,
  params?: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** Time for which the network and the binding of a node are cached, in ms, unless its connection fails. */
const VERIFICATION_TTL_MS = 10_000;
/**
 * Interval of the verification of a probed node, in ms. The interval is slightly less than a minute, so that
 * each minute contains a verification.
 */
const PROBE_VERIFY_INTERVAL_MS = 50_000;
/** Maximum time for which a probe waits for the verification, in ms. */
const MAX_PROBE_WAIT_MS = 2_000;

/** Failure because the responding node is not the node that its configured name is bound to. */
export class AnotherNode extends UpstreamFailure {
  /** Id of the responding node. Null: several nodes responded, or the node belongs to another network. */
  readonly nodeId: string | null;
  /** True if the responding node has the bound id, but belongs to another network or has another genesis. */
  readonly hasBoundId: boolean;

  constructor(message: string, nodeId: string | null, hasBoundId: boolean) {
    super('identity', message);
    this.nodeId = nodeId;
    this.hasBoundId = hasBoundId;
  }
}

/** Response to a health probe. */
export interface ProbedNode {
  /** Node id in the response. Null: none. */
  readonly nodeId: string | null;
  /** True if any response was received. */
  readonly hasAnswered: boolean;
}

/**
 * Verifies that the node that responds at a URL is the one that its configured name is bound to. There is one
 * guard per node and process.
 */
export class NodeGuard {
  readonly node: ConfiguredNode;
  readonly #sql: postgres.Sql;
  readonly #clock: Clock;
  #binding: NodeBinding | null = null;
  #loadedAt = Number.NEGATIVE_INFINITY;
  /** The last known network and genesis, and the node id that they belong to. */
  #place: (NodeIdentity & { readonly at: number }) | null = null;

  /** Time of the last survey of the node ids, in ms. */
  #surveyedAt = Number.NEGATIVE_INFINITY;
  /** The last verification at the low rate, and its failure. */
  #slow: { readonly at: number; readonly nodeId: string | null; failure: UpstreamFailure | null } | null =
    null;

  constructor(sql: postgres.Sql, node: ConfiguredNode, clock: Clock) {
    this.#sql = sql;
    this.node = node;
    this.#clock = clock;
  }

  /** Node id that the name is bound to, as this process last loaded it. Null: unknown. */
  get expected(): string | null {
    return boundNodeId(this.node, this.#binding);
  }

  /** True if no survey of the node ids at this URL was made within {@link PROBE_VERIFY_INTERVAL_MS}. */
  get needsSurvey(): boolean {
    return !isWithin(this.#surveyedAt, this.#clock(), PROBE_VERIFY_INTERVAL_MS);
  }

  /** Stores the time of a survey in which all responses carried the same node id. */
  noteSurvey(): void {
    this.#surveyedAt = this.#clock();
  }

  /**
   * Discards the cached network, genesis and survey after a failed connection or a difference, because
   * another node may respond afterwards.
   */
  doubt(): void {
    this.#place = null;
    this.#surveyedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Verifies a node by its id and, at a lower rate, by its network and its genesis.
   * @param nodeId id in its responses; null: the responses have none, or the node does not report it
   * @param isMarked the responses carried the id themselves
   * @param call requests network and genesis; null: the same run verified them already
   * @throws UpstreamFailure (identity) if the name is bound to another node
   */
  async verify(nodeId: string | null, isMarked: boolean, call: CallNode | null): Promise<void> {
    const now = this.#clock();
    if (!isWithin(this.#loadedAt, now, VERIFICATION_TTL_MS)) {
      this.#binding = await loadBinding(this.#sql, this.node.name);
      this.#loadedAt = now;
    }
    const observed = call
      ? await this.#identify(nodeId, call, now)
      : { nodeId, networkId: null, genesisId: null };
    const difference = findDifference(this.node, this.#binding, observed);
    if (difference !== null) await this.#refuseObserved(difference, observed);
    if (!isMarked && this.#binding && isDifferenceRecent(this.node, this.#binding, now))
      throw new UpstreamFailure('identity', this.#binding.difference ?? 'another node responded');
    if (observed.nodeId === null && observed.networkId === null) return;
    this.#binding = await bindNode(this.#sql, this.node, this.#binding, observed, now);
    // Another process may have bound the name to another node in the meantime.
    const late = findDifference(this.node, this.#binding, observed);
    if (late !== null) await this.#refuseObserved(late, observed);
  }

  /**
   * Verifies the node of health probes once a minute. A probe without a response counts for the node that
   * responded last.
   * @throws UpstreamFailure (identity) if another node than the bound one responded to the probe
   */
  async verifySlowly({ nodeId, hasAnswered }: ProbedNode, verify: () => Promise<void>): Promise<void> {
    const now = this.#clock();
    const last = this.#slow;
    const isRecent = last && isWithin(last.at, now, PROBE_VERIFY_INTERVAL_MS);
    if (!hasAnswered || (isRecent && last.nodeId === nodeId)) {
      if (last?.failure) throw last.failure;
      return;
    }
    const slow: NonNullable<typeof last> = { at: now, nodeId, failure: null };
    this.#slow = slow;
    try {
      await Promise.race([verify(), delay(MAX_PROBE_WAIT_MS, undefined, { ref: false })]);
      const { expected } = this;
      if (nodeId !== null && expected !== null && nodeId !== expected)
        await this.refuseNode(nodeId, expected, nodeId);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.kind !== 'identity') throw error;
      this.#slow = slow;
      // If the response of the probe carries the bound id, nodes with other ids that responded to the calls
      // of the verification do not matter.
      if (error instanceof AnotherNode && !error.hasBoundId && nodeId !== null && nodeId === this.expected)
        return;
      slow.failure = error;
      throw error;
    }
  }

  /**
   * Stores that a response came from another node.
   * @param other node that was expected or responded before
   * @param author the node that sent all responses; null: several nodes did
   * @throws AnotherNode
   */
  async refuseNode(nodeId: string, other: string, author: string | null = null): Promise<never> {
    const observed = { nodeId, networkId: null, genesisId: null };
    const several = `another node: ${nodeId} and ${other} respond at the URL of ${this.node.name}: set its url to the URL of one node`;
    return this.#refuse(findDifference(this.node, this.#binding, observed) ?? several, author);
  }

  /** @throws AnotherNode with the difference of a node that sent all responses */
  #refuseObserved(difference: string, observed: NodeIdentity): Promise<never> {
    const hasBoundId = observed.nodeId !== null && observed.nodeId === this.expected;
    return this.#refuse(difference, this.#otherThanBound(observed), hasBoundId);
  }

  /**
   * Stores a difference.
   * @throws AnotherNode with the difference
   */
  async #refuse(difference: string, author: string | null, hasBoundId = false): Promise<never> {
    this.doubt();
    // The next probe verifies its node again.
    this.#slow = null;
    this.#binding = await storeDifference(this.#sql, this.node, this.#binding, difference, this.#clock());
    throw new AnotherNode(difference, author, hasBoundId);
  }

  /**
   * Returns the id of a node of the configured network that is not the bound one. Returns null if the node is
   * the bound one or belongs to another network.
   */
  #otherThanBound({ nodeId, networkId }: NodeIdentity): string | null {
    const isOfNetwork = networkId === null || networkId === NETWORK_IDS[this.node.network];
    return isOfNetwork && nodeId !== this.expected ? nodeId : null;
  }

  /**
   * Requests network and genesis before the first run, after a failed connection, and when the cached values
   * have expired.
   */
  async #identify(nodeId: string | null, call: CallNode, now: number): Promise<NodeIdentity> {
    const known = this.#place;
    if (known && known.nodeId === nodeId && isWithin(known.at, now, VERIFICATION_TTL_MS)) return known;
    const networkId = await ifOffered(async () =>
      Number(String(getMember(await call('/ext/info', 'info.getNetworkID'), 'networkID'))),
    );
    // A chain that is not bootstrapped yet responds with HTTP 503. The other APIs of the node are recorded in
    // the meantime.
    const genesisId = await ifOffered(async () => {
      const params = { height: 0, encoding: 'json' };
      return getMember(
        getMember(await call('/ext/bc/P', 'platform.getBlockByHeight', params), 'block'),
        'id',
      );
    }, 'server');
    const observed = {
      nodeId,
      networkId: Number.isSafeInteger(networkId) ? (networkId ?? null) : null,
      genesisId: typeof genesisId === 'string' ? genesisId : null,
    };
    this.#place = { ...observed, at: now };
    return observed;
  }
}

/**
 * Returns whether `at` is less than `duration` ms before `now`. False if `at` is later, because the clock was
 * set back.
 */
const isWithin = (at: number, now: number, duration: number) => now >= at && now - at < duration;

/**
 * Returns the result of a call. Returns null if the node does not offer it, or if it fails with the kind
 * `also`.
 * @throws UpstreamFailure if the call fails with any other kind
 */
export async function ifOffered<T>(call: () => Promise<T>, also?: FailureKind): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof UpstreamFailure && (UNSUPPORTED_KINDS.has(error.kind) || error.kind === also))
      return null;
    throw error;
  }
}

/** Failure kinds of a method that a node, or a proxy in front of it, does not allow. */
const UNSUPPORTED_KINDS: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'unsupported',
  'rpc',
  'not-found',
  'auth',
  'bad-request',
  'malformed',
  'redirect',
]);
