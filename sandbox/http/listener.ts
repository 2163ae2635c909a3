import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Delivery } from '../faults/delivery.ts';
import { WHOLE } from '../faults/delivery.ts';
import type { ServedFault } from '../faults/faults.ts';
import { writeJson } from '../json.ts';
import { type Answer, type MetricPoints, problem } from './answer.ts';
import type { Call } from './call.ts';
import { send } from './sender.ts';

/** Returns the delivery of a response without a fault. */
export function delivery(answer: Answer): Delivery {
  const text =
    answer.text ??
    (answer.document === undefined ? '' : `${writeJson(answer.document)}${answer.ending ?? ''}`);
  const headers = {
    'content-type': answer.contentType ?? 'application/json; charset=utf-8',
    ...answer.headers,
  };
  return { status: answer.status, headers, body: Buffer.from(text), manner: WHOLE };
}

/** Returns the metric points that can be read from a response with its fault. */
export function readable(
  points: MetricPoints | undefined,
  fault: ServedFault | undefined,
): MetricPoints | undefined {
  if (points === undefined || fault === undefined || fault.readable === 'all') return points;
  if (fault.readable === 'none') return undefined;
  const { without } = fault.readable;
  return { ...points, points: points.points.filter(([timestamp]) => !without.includes(timestamp)) };
}

async function body(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function read(request: IncomingMessage, nowMs: number): Promise<Call> {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const path = decodeURIComponent(url.pathname);
  const method = request.method ?? 'GET';
  const text = method === 'GET' ? '' : await body(request);
  return { method, path, query: url.searchParams, headers: request.headers, body: text, nowMs };
}

/**
 * A function that processes a call. Returns the response to send, or writes to the response itself and
 * returns undefined.
 */
export type Handler = (call: Call, response: ServerResponse) => Delivery | undefined;

/** Starts an HTTP server at a host and a port. Port 0 selects a free port. */
export async function listen(
  at: { port: number; host: string },
  now: () => number,
  handle: Handler,
): Promise<Server> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let call: Call;
    try {
      call = await read(request, now());
    } catch {
      await send(response, delivery(problem(400, 'Bad Request')));
      return;
    }
    const out = handle(call, response);
    if (out !== undefined) await send(response, out);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) response.destroy();
      else
        void send(response, delivery(problem(500, error instanceof Error ? error.message : 'unknown error')));
    });
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(at.port, at.host, resolve);
  });
  return server;
}
