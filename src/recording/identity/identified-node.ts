import type { UpstreamClient } from '../../datasets/contract.ts';
import { getMember } from '../../datasets/sources/answer.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import {
  type SessionOptions,
  UpstreamSession,
  type UpstreamSettings,
} from '../../upstreams/upstream-session.ts';
import { AnotherNode, type CallNode, ifOffered, type NodeGuard } from './node-guard.ts';

const NODE_ID = /^NodeID-[1-9A-HJ-NP-Za-km-z]{20,60}$/;

/**
 * Number of requests for the node id before the first response and after the last one, if responses have no
 * header with the id. A load balancer that distributes requests equally among two nodes remains undetected
 * with a probability of less than 2^-16.
 */
const IDS_PER_VERIFICATION = 8;
/**
 * Number of requests for the node id in a survey, once a minute per process, if responses have no header with
 * the id. A node with an eighth of the requests remains undetected in 1.4 % of surveys.
 */
const IDS_PER_SURVEY = 32;
/** Number of concurrent requests for the node id. Each request may use a separate connection. */
const CONCURRENT_IDS = 8;
const REPORTED_ONCE = 'reports its node id only once, so that its responses cannot be assigned to one node';

/**
 * A node during one run. Each response carries the id of the node in a header
 * (upstream-services.md#transport). If a proxy removes the header, the id is requested many times before the
 * first response and after the last. Responses of other nodes are rejected.
 */
export class IdentifiedNode implements UpstreamClient {
  readonly #session: UpstreamSession;
  readonly #guard: NodeGuard;
  /** Node id of the responses so far. Null: no response had one. */
  #nodeId: string | null = null;
  /** True if a response had no node id. */
  #isUnmarked = false;
  /** Number of responses since the last verification of the node. */
  #unverified = 0;
  #isVerified = false;
  /** True if this run is a health probe, which accepts responses of any node. */
  #isProbe = false;

  constructor(settings: UpstreamSettings, options: SessionOptions, guard: NodeGuard) {
    this.#guard = guard;
    this.#session = new UpstreamSession(settings, options, (headers) => this.#inspect(headers['node-id']));
  }

  get usage() {
    return this.#session.usage;
  }

  get now() {
    return this.#session.now;
  }

  pageSize(most: number): number {
    return this.#session.pageSize(most);
  }

  get: UpstreamClient['get'] = (path, query) => this.#guarded(this.#session.get(path, query));
  post: UpstreamClient['post'] = (path, body) => this.#guarded(this.#session.post(path, body));
  rpc: UpstreamClient['rpc'] = (path, method, params) =>
    this.#guarded(this.#session.rpc(path, method, params));

  probe: UpstreamClient['probe'] = (path, query) => {
    this.#isProbe = true;
    return this.#guarded(this.#session.probe(path, query));
  };

  /**
   * Verifies that all responses so far came from the node that the name is bound to.
   * @throws UpstreamFailure (identity) if another node responded
   */
  async verifySource(): Promise<void> {
    if (this.#isVerified && this.#unverified === 0) return;
    const call = (path: string, method: string, params?: Readonly<Record<string, unknown>>) =>
      this.#guarded(this.#session.rpcIfOffered(path, method, params));
    const reportsNoId = this.#isVerified && this.#nodeId === null;
    if (!reportsNoId && (this.#nodeId === null || this.#isUnmarked)) await this.#requestNodeId(call);
    await this.#guard.verify(this.#nodeId, !this.#isUnmarked, this.#isVerified ? null : call);
    this.#isVerified = true;
    this.#unverified = 0;
  }

  /**
   * Same as {@link IdentifiedNode.verifySource}, once a minute, for health probes.
   * @throws AnotherNode with the id of the node that responded
   */
  async verifySlowly(): Promise<void> {
    const answered = { nodeId: this.#isUnmarked ? null : this.#nodeId, hasAnswered: this.#unverified > 0 };
    await this.#guard.verifySlowly(answered, () => this.verifySource());
  }

  /**
   * Requests the node id. If its response has no header, a load balancer is detected only by two different
   * ids, so the id is requested many times: at least {@link IDS_PER_VERIFICATION} times, and once a minute
   * {@link IDS_PER_SURVEY} times.
   * @throws UpstreamFailure if only the first of these requests is answered with an id
   */
  async #requestNodeId(call: CallNode): Promise<void> {
    const requestOnce = async () =>
      this.#answeredId(
        await ifOffered(async () => getMember(await call('/ext/info', 'info.getNodeID'), 'nodeID')),
      );
    if (!(await requestOnce()) || !this.#isUnmarked) return;
    const isSurvey = this.#guard.needsSurvey;
    let reported = 0;
    for (let count = isSurvey ? IDS_PER_SURVEY : IDS_PER_VERIFICATION; count > 0; count -= CONCURRENT_IDS) {
      const results = await Promise.allSettled(Array.from({ length: CONCURRENT_IDS }, requestOnce));
      const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      const other = failures.find((failure) => failure instanceof AnotherNode);
      if (other) throw other;
      const ids = results.filter((one) => one.status === 'fulfilled' && one.value).length;
      reported += ids;
      if (reported === 0) throw failures[0] ?? new UpstreamFailure('malformed', REPORTED_ONCE);
      // A proxy may limit the rate of requests. The next verification then repeats the survey.
      if (ids < results.length) return;
    }
    if (isSurvey) this.#guard.noteSurvey();
  }

  /** Compares a reported node id with the expected one. Returns false if the value is not a node id. */
  async #answeredId(nodeId: unknown): Promise<boolean> {
    if (typeof nodeId !== 'string' || !NODE_ID.test(nodeId)) return false;
    await this.#answered(nodeId);
    return true;
  }

  async #inspect(header: string | string[] | undefined): Promise<void> {
    this.#unverified += 1;
    if (typeof header === 'string' && NODE_ID.test(header)) await this.#answered(header);
    else this.#isUnmarked = true;
  }

  async #answered(nodeId: string): Promise<void> {
    // The node of a probe is compared with the bound node only after its network is known.
    const expected = this.#isProbe ? this.#nodeId : (this.#guard.expected ?? this.#nodeId);
    this.#nodeId = nodeId;
    if (expected !== null && nodeId !== expected) await this.#guard.refuseNode(nodeId, expected);
  }

  async #guarded<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof UpstreamFailure && NEW_CONNECTION.has(error.kind)) this.#guard.doubt();
      throw error;
    }
  }
}

/** Failures after which another node, or the same node on another network, may respond. */
const NEW_CONNECTION: ReadonlySet<string> = new Set(['dns', 'refused', 'reset', 'tls', 'timeout', 'server']);
