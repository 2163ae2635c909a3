import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Ask } from '../contract.ts';

/** JSON-RPC calls to a node that may not offer some methods: a method that was refused once is not called again. */
export class Offered {
  readonly #ask: Ask;
  readonly #refused = new Map<string, UpstreamFailure>();

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** The call's result; undefined when the node does not offer the method. @throws UpstreamFailure when it fails otherwise */
  async rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (this.#refused.has(method)) return undefined;
    try {
      return await this.#ask.rpc(path, method, params);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.kind !== 'not-offered') throw error;
      this.#refused.set(method, error);
      return undefined;
    }
  }

  /** The methods that the node refused. */
  get refused(): readonly string[] {
    return [...this.#refused.keys()];
  }

  /** @throws UpstreamFailure (not-offered) when the node refused all of `methods` */
  refuseWithout(methods: readonly string[]): void {
    if (methods.every((method) => this.#refused.has(method)))
      throw new UpstreamFailure('not-offered', `the node offers none of ${methods.join(', ')}`);
  }
}
