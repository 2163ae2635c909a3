import { type Answer, problem, Refusal } from './http/answer.ts';
import type { Call } from './http/call.ts';
import type { Operation, Service } from './http/operation.ts';
import { Router } from './http/router.ts';
import type { NodeService } from './node/service.ts';

/** A call with its operation and response. */
export interface Dispatched {
  readonly service: Service;
  readonly operation: string;
  readonly units: number;
  readonly answer: Answer;
}

function answerOperation(call: Call, operation: Operation, parts: Readonly<Record<string, string>>): Answer {
  try {
    return operation.answer(call, parts);
  } catch (error) {
    if (error instanceof Refusal) return problem(error.status, error.reasons);
    throw error;
  }
}

/**
 * Dispatcher of calls to services. Calls below /nodes/NAME/ext and /ext belong to nodes, other calls to the
 * service of their path.
 */
export class Dispatch {
  readonly #router: Router;
  readonly #nodes: readonly NodeService[];

  constructor(operations: readonly Operation[], nodes: readonly NodeService[]) {
    this.#router = new Router(operations);
    this.#nodes = nodes;
  }

  answer(call: Call): Dispatched {
    const [, name, path] = /^(?:\/nodes\/([^/]+))?(\/ext(?:\/.*)?)$/.exec(call.path) ?? [];
    if (path !== undefined) {
      const node = name === undefined ? this.#nodes[0] : this.#nodes.find((one) => one.node.name === name);
      if (node !== undefined) return { service: 'node', units: 0, ...node.answer(call, path) };
    }
    const match = this.#router.find(call.method, call.path);
    if (match !== undefined) {
      const { operation, parts } = match;
      const { name: operationName, service, units } = operation;
      return { service, operation: operationName, units, answer: answerOperation(call, operation, parts) };
    }
    const answer = problem(404, `Cannot ${call.method} ${call.path}`);
    return { service: 'data', operation: 'unknown', units: 0, answer };
  }
}
