import type { Operation, PathParts } from './operation.ts';

interface Route {
  readonly operation: Operation;
  readonly pattern: RegExp;
}

/** An operation and the parts of its path. */
export interface Match {
  readonly operation: Operation;
  readonly parts: PathParts;
}

/** Router that finds the operation of a request by method and path. */
export class Router {
  readonly #routes: readonly Route[];

  constructor(operations: readonly Operation[]) {
    this.#routes = operations.map((operation) => ({
      operation,
      pattern: new RegExp(`^${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
    }));
  }

  find(method: string, path: string): Match | undefined {
    for (const { operation, pattern } of this.#routes) {
      if (operation.method !== method) continue;
      const found = pattern.exec(path);
      if (found !== null) return { operation, parts: found.groups ?? {} };
    }
    return undefined;
  }
}
