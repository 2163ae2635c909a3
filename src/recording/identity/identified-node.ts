import type { UpstreamClient } from '../../datasets/contract.ts';
import { getMember } from '../../datasets/sources/answer.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import { type SessionOptions, UpstreamSession, type UpstreamSettings } from '../../upstreams/upstream.ts';
import { ifOffered, type NodeGuard } from './node-guard.ts';

const NODE_ID = /^NodeID-[1-9A-HJ-NP-Za-km-z]{20,60}$/;

/**
 * A node during one run. Each response carries the id of the node in a header (upstream-services.md#transport). If a proxy
 * removes the header, the id is requested before the first response and after the last. Responses of other
 * nodes are rejected.
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
  /** This run is a health probe, which accepts responses of any node. */
  #isProbe = false;

  constructor(settings: UpstreamSettings, asking: SessionOptions, guard: NodeGuard) {
    this.#guard = guard;
    this.#session = new UpstreamSession(settings, asking, (headers) => this.#inspect(headers['node-id']));
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
   * Without the header, a load balancer is detected only by two different ids. So the first verification
   * requests the id twice.
   */
  async #requestNodeId(call: (path: string, method: string) => Promise<unknown>): Promise<void> {
    for (let times = this.#isVerified ? 1 : 2; times > 0; times--) {
      const nodeId = await ifOffered(async () =>
        getMember(await call('/ext/info', 'info.getNodeID'), 'nodeID'),
      );
      if (typeof nodeId !== 'string' || !NODE_ID.test(nodeId)) return;
      await this.#answered(nodeId);
      if (!this.#isUnmarked) return;
    }
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
    if (expected !== null && nodeId !== expected) await this.#guard.refuseNode(nodeId);
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
