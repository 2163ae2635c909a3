import type { ServerResponse } from 'node:http';
import { type Facts, factOf } from './facts.ts';
import type { Delivery } from './faults/delivery.ts';
import type { FaultMatch, Faults } from './faults/faults.ts';
import { FAULT_KINDS, faultKind } from './faults/kinds.ts';
import { problem } from './http/answer.ts';
import type { Call } from './http/call.ts';
import { waitForDrain } from './http/drain.ts';
import { delivery } from './http/listener.ts';
import { isObject, type Json, type JsonObject, readJson, writeJson } from './json.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Network } from './network/network.ts';

/** Parts that the control interface changes. */
export interface Controlled {
  readonly ledger: Ledger;
  readonly faults: Faults;
  readonly facts: Facts;
  readonly network: Network;
  readonly now: () => number;
  readonly advance: ((ms: number) => void) | undefined;
}

async function write(response: ServerResponse, lines: Iterable<string>): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < 65_536) continue;
    if (!response.write(text)) await waitForDrain(response);
    if (response.destroyed) return;
    text = '';
  }
  response.end(text);
}

/** Sends lines in order, as fast as the client reads. */
function stream(response: ServerResponse, lines: Iterable<string>): undefined {
  write(response, lines).catch(() => response.destroy());
}

function* metricLines(ledger: Ledger, query: URLSearchParams): Generator<string> {
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const timestamp = text('timestamp');
  const filter = { chain: text('chain'), metric: text('metric'), interval: text('interval') };
  for (const row of ledger.eachMetric({
    ...filter,
    timestamp: timestamp === undefined ? undefined : Number(timestamp),
  })) {
    yield JSON.stringify(row);
  }
}

function* callLines(ledger: Ledger, query: URLSearchParams): Generator<string> {
  const text = (name: string): string | undefined => query.get(name) ?? undefined;
  const filter = { operation: text('operation'), service: text('service'), fault: text('fault') };
  for (const call of ledger.calls(filter)) yield JSON.stringify(call);
}

function planFault(faults: Faults, plan: JsonObject): Json {
  const kind = faultKind(String(plan.kind));
  if (kind === undefined) return { error: 'unknown kind' };
  const part = (name: string): string | undefined =>
    typeof plan[name] === 'string' ? plan[name] : undefined;
  const service = (['data', 'metrics', 'node'] as const).find((one) => one === part('service'));
  const match: FaultMatch = { service, operation: part('operation'), target: part('target') };
  if (typeof plan.rate === 'number') faults.rate({ [kind]: plan.rate }, match);
  else if (typeof plan.untilMs === 'number') faults.until(match, kind, plan.untilMs);
  else faults.next(match, kind, typeof plan.times === 'number' ? plan.times : 1);
  return { planned: kind };
}

function switchFact({ facts, now }: Controlled, request: JsonObject): Delivery {
  const fact = factOf(String(request.fact));
  if (fact === undefined) return delivery(problem(400, 'no such fact: see GET /_sandbox/facts'));
  const since = typeof request.sinceMs === 'number' ? request.sinceMs : now();
  if (request.on === false) facts.off(fact);
  else facts.on(fact, Math.floor(since / 1000), typeof request.node === 'string' ? request.node : undefined);
  return delivery({ status: 200, document: { facts: facts.list() } });
}

function clock(parts: Controlled, request: JsonObject): Delivery {
  if (parts.advance === undefined) return delivery(problem(400, 'this clock cannot be moved'));
  if (typeof request.advanceMs !== 'number') return delivery(problem(400, 'advanceMs must be a number'));
  parts.advance(request.advanceMs);
  return delivery({ status: 200, document: { nowMs: parts.now() } });
}

/**
 * Responds to a call of the control interface: the ledger, the true blocks, faults, facts and the clock. The
 * interface is for tests in other processes.
 */
export function control(parts: Controlled, call: Call, response: ServerResponse): Delivery | undefined {
  const { ledger, network, faults } = parts;
  const read = readJson(call.body);
  const request: JsonObject = isObject(read) ? read : {};
  const number = (name: string, other: number): number => Number(call.query.get(name) ?? other);
  switch (`${call.method} ${call.path.slice('/_sandbox'.length)}`) {
    case 'GET /ledger/metrics':
      return stream(response, metricLines(ledger, call.query));
    case 'GET /ledger/calls':
      return stream(response, callLines(ledger, call.query));
    case 'GET /ledger/totals':
      return delivery({
        status: 200,
        text: writeJson({ totals: JSON.parse(JSON.stringify(ledger.totals())), faults: ledger.faults() }),
      });
    case 'GET /truth/blocks': {
      const chain = call.query.get('blockchainId') ?? 'p-chain';
      const hashes = network.proposedBlockHashes(
        call.query.get('nodeId') ?? '',
        chain,
        number('start', 0),
        number('end', parts.now() / 1000),
      );
      return stream(response, hashes);
    }
    case 'GET /clock':
      return delivery({ status: 200, document: { nowMs: parts.now() } });
    case 'POST /clock':
      return clock(parts, request);
    case 'GET /facts':
      return delivery({ status: 200, document: { facts: parts.facts.list() } });
    case 'POST /facts':
      return switchFact(parts, request);
    case 'GET /faults':
      return delivery({ status: 200, document: { kinds: FAULT_KINDS } });
    case 'POST /faults':
      return delivery({ status: 200, document: { answer: planFault(faults, request) } });
    case 'DELETE /faults':
      faults.clear();
      return delivery({ status: 200, document: {} });
    default:
      return delivery(problem(404, `Cannot ${call.method} ${call.path}`));
  }
}
