import type { Scope, Source, Target } from '../contract.ts';
import { oneAnswer } from './one-answer.ts';

/** One JSON-RPC method of a node, and how often it is called. */
export interface NodeMethod {
  /** The source's name. */
  readonly name: string;
  /** The API's path below the node's URL. */
  readonly path: string;
  readonly method: string;
  /** Milliseconds between two calls. */
  readonly every: number;
  /** What each node is asked about; absent: one call a node, about the node itself. */
  readonly about?: (scope: Scope) => readonly Target[];
  /** The method's parameters; absent: none. */
  readonly params?: (target: Target) => Readonly<Record<string, unknown>>;
}

/** The source that asks "this method of that node, so often", and whose one call answers everything. */
export function nodeMethod({ name, path, method, every, about, params }: NodeMethod): Source {
  return {
    name,
    upstream: 'nodes',
    every,
    weight: 0,
    calls: 1,
    targets: (scope) =>
      scope.nodes.flatMap((node) => (about?.(scope) ?? [{}]).map((target) => ({ node, ...target }))),
    walk: (ask, target) => oneAnswer(() => ask.rpc(path, method, params?.(target))),
  };
}
