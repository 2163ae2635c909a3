import type { Answer } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { nowSec } from '../http/call.ts';
import { PRIMARY_CHAINS } from '../network/primary-chains.ts';
import { avmMethods } from './avm.ts';
import { health, type Probe } from './health.ts';
import { infoMethods } from './info.ts';
import { answerRpc, type Methods } from './json-rpc.ts';
import { platformMethods } from './platform.ts';
import { fewMembersSince, isBootstrapped, type SimulatedNode } from './simulated-node.ts';

/** A response of a node with the operation name of the ledger: a JSON-RPC method or a probe. */
export interface NodeAnswer {
  readonly operation: string;
  readonly answer: Answer;
}

const NOTHING: NodeAnswer = {
  operation: 'unknown',
  answer: { status: 404, text: '', contentType: 'text/plain' },
};

/** Paths of the health reports. */
const PROBES: Readonly<Record<string, Probe>> = {
  '/ext/health': 'health',
  '/ext/health/health': 'health',
  '/ext/health/readiness': 'readiness',
  '/ext/health/liveness': 'liveness',
};

function answerProbe(node: SimulatedNode, probe: Probe, call: Call): NodeAnswer {
  const report = health(node, probe, call.query.getAll('tag'), nowSec(call));
  const plain = node.network.facts.has('health-text-plain', nowSec(call), node.name);
  const type = plain ? { contentType: 'text/plain; charset=utf-8' } : {};
  return { operation: probe, answer: { status: report.healthy ? 200 : 503, document: report, ...type } };
}

/** The HTTP interface of one node: JSON-RPC and health. */
export class NodeService {
  readonly node: SimulatedNode;
  readonly #info: Methods;
  /** Methods of each chain, by the name or id of the chain after /ext/bc/. */
  readonly #chains = new Map<string, Methods>();
  readonly #health: Methods;

  constructor(node: SimulatedNode) {
    this.node = node;
    this.#info = infoMethods(node);
    const [platform, exchange] = PRIMARY_CHAINS[node.network.name];
    if (platform !== undefined) this.#add(['P', platform.blockchainId], platformMethods(node, platform));
    if (exchange !== undefined) this.#add(['X', exchange.blockchainId], avmMethods(node, exchange));
    this.#health = {
      'health.health': (params, sec) => health(node, 'health', params.texts('tags'), sec),
      'health.readiness': (params, sec) => health(node, 'readiness', params.texts('tags'), sec),
      'health.liveness': (_, sec) => health(node, 'liveness', [], sec),
    };
  }

  /** JSON-RPC methods by name, and health reports as "GET PATH". */
  get operations(): string[] {
    const methods = [this.#info, this.#health, ...new Set(this.#chains.values())];
    return [
      ...methods.flatMap((one) => Object.keys(one)),
      ...Object.keys(PROBES).map((path) => `GET ${path}`),
    ];
  }

  /** Responds to a path that starts with /ext. */
  answer(call: Call, path: string): NodeAnswer {
    const { operation, answer } = this.#answer(call, path.replace(/\/$/, ''));
    const headers = { ...answer.headers, 'node-id': this.node.identity.nodeId };
    return { operation, answer: { ...answer, ending: '\n', headers } };
  }

  #answer(call: Call, path: string): NodeAnswer {
    if (path === '/ext/info') return this.#rpc(call, this.#info);
    const chain = this.#chains.get(path.replace('/ext/bc/', ''));
    if (chain !== undefined) return this.#chain(call, chain);
    if (path === '/ext/health' && call.method === 'POST') return this.#rpc(call, this.#health);
    const probe = PROBES[path];
    return probe === undefined ? NOTHING : answerProbe(this.node, probe, call);
  }

  #add(names: readonly string[], methods: Methods): void {
    for (const name of names) this.#chains.set(name, methods);
  }

  #rpc(call: Call, methods: Methods): NodeAnswer {
    const { method, answer } = answerRpc(call, methods);
    return { operation: method === '' ? 'unknown' : method, answer };
  }

  #chain(call: Call, methods: Methods): NodeAnswer {
    const sec = nowSec(call);
    if (isBootstrapped(this.node, sec) || fewMembersSince(this.node, sec) !== undefined)
      return this.#rpc(call, methods);
    const text = 'API call rejected because chain is not done bootstrapping\n';
    return { operation: 'unknown', answer: { status: 503, text, contentType: 'text/plain; charset=utf-8' } };
  }
}
