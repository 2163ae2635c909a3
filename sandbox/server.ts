import { control } from './control.ts';
import type { Networks } from './data/networks.ts';
import { dataOperations } from './data/operations.ts';
import { Dispatch } from './dispatch.ts';
import type { EvmNetwork } from './evm/evm-network.ts';
import { evmNetworks } from './evm/evm-networks.ts';
import { Facts } from './facts.ts';
import type { Delivery } from './faults/delivery.ts';
import { Faults } from './faults/faults.ts';
import type { Answer } from './http/answer.ts';
import type { Call } from './http/call.ts';
import { delivery, listen, readable } from './http/listener.ts';
import { PageTokens } from './http/page-tokens.ts';
import type { WalkManner } from './http/walk-manner.ts';
import { Ledger } from './ledger/ledger.ts';
import { Metrics } from './metrics/metrics.ts';
import { metricsOperations } from './metrics/operations.ts';
import { evmChains } from './network/evm-chains.ts';
import { Network } from './network/network.ts';
import { NodeService } from './node/service.ts';
import { type SimulatedNode, simulatedNodes } from './node/simulated-node.ts';
import { type SandboxOptions, type Settings, settings } from './options.ts';
import { type Watch, watchList } from './watch.ts';

/** A running sandbox. */
export interface Sandbox {
  /** The base URL of all three services. The URL of a node is this URL followed by the path of the node. */
  readonly url: string;
  readonly seed: number;
  /** Operations of the three services: "METHOD PATH", or the name of a JSON-RPC method. */
  readonly operations: ReadonlySet<string>;
  /** Targets for the `watch` of a recorder. */
  readonly watch: Watch;
  /** The main network, with its true blocks, validators and other objects. */
  readonly network: Network;
  readonly networks: Networks;
  /** The EVM chains by chain id. */
  readonly evm: ReadonlyMap<string, EvmNetwork>;
  /** The true metrics. */
  readonly metrics: Metrics;
  /** The nodes, whose timelines accept further incidents and restarts. */
  readonly nodes: readonly SimulatedNode[];
  readonly ledger: Ledger;
  readonly faults: Faults;
  /** Enabled undocumented behaviour. */
  readonly facts: Facts;
  /** Stops the server at once, also with open requests. */
  close(): Promise<void>;
}

function networks(set: Settings, facts: Facts): Networks {
  const plan = {
    facts,
    seed: set.seed,
    genesisSec: Math.floor(set.genesisMs / 1000),
    blocksPerHour: set.blocksPerHour,
    utxos: set.utxos,
  };
  return {
    sandbox: new Network({ ...plan, name: 'sandbox', validators: set.validators }),
    'sandbox-2': new Network({ ...plan, name: 'sandbox-2', validators: Math.min(12, set.validators) }),
  };
}

/** Starts a simulated network that serves the chain data, metrics and node interfaces on one loopback port. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const set = settings(options);
  const facts = new Facts();
  for (const fact of set.facts) facts.on(fact, Math.floor(set.clock() / 1000));
  const both = networks(set, facts);
  const chains = evmChains(both.sandbox.genesisSec);
  const metrics = new Metrics(set.seed, chains);
  const nodes = simulatedNodes(both.sandbox, set.incidents);
  const tokens = new PageTokens(set.seed, set.tokenLifeMs);
  const evm = evmNetworks(chains, both);
  const operations = [
    ...dataOperations({ networks: both, evm, tokens, lagMs: set.indexerLagMs }),
    ...metricsOperations(metrics, tokens),
  ];
  const nodeServices = nodes.map((node) => new NodeService(node));
  const dispatch = new Dispatch(operations, nodeServices);
  const ledger = new Ledger({ calls: set.ledgerCalls, bodies: set.ledgerBodies });
  const faults = new Faults(set.seed);
  const controlled = { ledger, faults, facts, network: both.sandbox, now: set.clock, advance: set.advance };

  function answer(call: Call): Delivery {
    const { service, operation, units, answer: right } = dispatch.answer(call);
    const whole = delivery(right);
    const again = (walk: WalkManner): Answer => dispatch.answer({ ...call, walk }).answer;
    const fault = faults.idle
      ? undefined
      : faults.serve({ call, service, operation, answer: right, delivery: whole, tokens, again });
    const out = fault?.delivery ?? whole;
    const query = call.query.toString();
    const record = ledger.record(
      {
        at: call.nowMs,
        service,
        operation,
        method: call.method,
        target: query === '' ? call.path : `${call.path}?${query}`,
        status: out.status,
        units,
        bytes: out.body.length,
        ...(fault === undefined ? {} : { fault: fault.kind }),
        ...(set.ledgerBodies ? { body: out.body.toString('utf8') } : {}),
      },
      readable(fault?.metric ?? right.metric, fault),
    );
    set.requestLog(record);
    return out;
  }

  const server = await listen(set, set.clock, (call, response) =>
    call.path.startsWith('/_sandbox/') ? control(controlled, call, response) : answer(call),
  );
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : set.port;
  return {
    url: `http://${set.host === '0.0.0.0' ? '127.0.0.1' : set.host}:${port}`,
    seed: set.seed,
    operations: new Set([
      ...operations.map(({ method, path }) => `${method} ${path}`),
      ...nodeServices.flatMap((service) => service.operations),
    ]),
    watch: watchList(both.sandbox, [...new Set(evm.values())], nodes, Math.floor(set.clock() / 1000)),
    network: both.sandbox,
    networks: both,
    evm,
    metrics,
    nodes,
    ledger,
    faults,
    facts,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
