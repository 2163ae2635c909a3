import type { Scope, Source, Target } from '../contract.ts';
import { walkSingleResponse } from './single-response.ts';

/** A JSON-RPC method of a node and the interval of its calls. */
export interface NodeMethod {
  /** Name of the source. */
  readonly name: string;
  /** Path of the API below the URL of the node. */
  readonly path: string;
  readonly method: string;
  /** Interval between two calls, in ms. */
  readonly every: number;
  /** Returns the subjects of the calls to each node. Default: one call per node, about the node itself. */
  readonly about?: (scope: Scope) => readonly Target[];
  /** Returns the parameters of the method. Default: none. */
  readonly params?: (target: Target) => Readonly<Record<string, unknown>>;
}

/** Returns the source of a JSON-RPC method with one call per poll. */
export function nodeMethod({ name, path, method, every, about, params }: NodeMethod): Source {
  return {
    name,
    upstream: 'nodes',
    every,
    weight: 0,
    calls: 1,
    targets: (scope) =>
      scope.nodes.flatMap((node) => (about?.(scope) ?? [{}]).map((target) => ({ node, ...target }))),
    walk: (client, target) => walkSingleResponse(() => client.rpc(path, method, params?.(target))),
  };
}
