import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { UpstreamClient } from '../contract.ts';

/**
 * JSON-RPC calls to a node that may not offer some methods. A method that is not offered is called only once.
 */
export class OptionalMethods {
  readonly #client: UpstreamClient;
  readonly #refused = new Map<string, UpstreamFailure>();

  constructor(client: UpstreamClient) {
    this.#client = client;
  }

  /**
   * Returns the result of a call. Returns undefined if the node does not offer the method.
   * @throws UpstreamFailure if the call fails otherwise
   */
  async rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#refused.has(method)) return undefined;
    try {
      return await this.#client.rpc(path, method, params);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.kind !== 'unsupported') throw error;
      this.#refused.set(method, error);
      return undefined;
    }
  }

  /** Methods that the node does not offer. */
  get refused(): readonly string[] {
    return [...this.#refused.keys()];
  }

  /**
   * Fails if no method is offered.
   * @throws UpstreamFailure (unsupported) if the node offers none of `methods`
   */
  requireAny(methods: readonly string[]): void {
    if (methods.every((method) => this.#refused.has(method)))
      throw new UpstreamFailure('unsupported', `the node offers none of ${methods.join(', ')}`);
  }
}
