import type { Ask } from '../../datasets/contract.ts';
import { memberOf } from '../../datasets/sources/answer.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import { type Asking, UpstreamSession, type UpstreamSettings } from '../../upstreams/upstream.ts';
import { ifOffered, type NodeGuard } from './node-guard.ts';

const NODE_ID = /^NodeID-[1-9A-HJ-NP-Za-km-z]{20,60}$/;

/**
 * A node as one run asks it. Each answer carries the node's id in a header (reality.md 4.1); where a proxy removes it, the id is requested
 * first and last. No answer of another node is read.
 */
export class IdentifiedNode implements Ask {
  readonly #session: UpstreamSession;
  readonly #guard: NodeGuard;
  /** The node id of the answers so far; null: none carried one. */
  #nodeId: string | null = null;
  /** An answer carried no node id. */
  #isUnmarked = false;
  /** Answers since the node was verified last. */
  #unverified = 0;
  #isVerified = false;
  /** This run is a health probe, which reads the answer of any node. */
  #isProbe = false;

  constructor(settings: UpstreamSettings, asking: Asking, guard: NodeGuard) {
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

  get: Ask['get'] = (path, query) => this.#guarded(this.#session.get(path, query));
  post: Ask['post'] = (path, body) => this.#guarded(this.#session.post(path, body));
  rpc: Ask['rpc'] = (path, method, params) => this.#guarded(this.#session.rpc(path, method, params));

  probe: Ask['probe'] = (path, query) => {
    this.#isProbe = true;
    return this.#guarded(this.#session.probe(path, query));
  };

  /** Verifies that all answers so far came from the node that the name stands for. @throws UpstreamFailure (identity) when another one answered */
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

  /** As {@link IdentifiedNode.verifySource}, once a minute: for health probes. @throws AnotherNode with the id of the node that answered */
  async verifySlowly(): Promise<void> {
    const answered = { nodeId: this.#isUnmarked ? null : this.#nodeId, hasAnswered: this.#unverified > 0 };
    await this.#guard.slowly(answered, () => this.verifySource());
  }

  /** Without the header a load balancer shows itself only by two ids: the first time the id is requested twice. */
  async #requestNodeId(call: (path: string, method: string) => Promise<unknown>): Promise<void> {
    for (let times = this.#isVerified ? 1 : 2; times > 0; times--) {
      const nodeId = await ifOffered(async () =>
        memberOf(await call('/ext/info', 'info.getNodeID'), 'nodeID'),
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
    // A probe is compared with the node that the name is bound to once its network is known, too.
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

/** Failures after which another node, or the same one with another network, may answer. */
const NEW_CONNECTION: ReadonlySet<string> = new Set(['dns', 'refused', 'reset', 'tls', 'timeout', 'server']);
