import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Delivery } from '../faults/delivery.ts';
import { waitForDrain } from './drain.ts';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

/** Writes one chunk. Returns false if the client has closed the connection. */
async function write(response: ServerResponse, chunk: Buffer): Promise<boolean> {
  if (response.destroyed) return false;
  if (!response.write(chunk)) await waitForDrain(response);
  return !response.destroyed;
}

async function endless(response: ServerResponse, bytes: number): Promise<void> {
  if (!(await write(response, Buffer.from('{"results":"')))) return;
  for (let sent = 0; sent < bytes; sent += CHUNK.length) if (!(await write(response, CHUNK))) return;
  response.end('"}');
}

async function drip(response: ServerResponse, body: Buffer, everyMs: number): Promise<void> {
  for (let at = 0; at < body.length; at += 1) {
    if (!(await write(response, body.subarray(at, at + 1)))) return;
    await pause(everyMs, undefined, { ref: false });
  }
  response.end();
}

/** Sends half of a body and ends the connection. `close` ends the connection as after a complete response. */
function cut(response: ServerResponse, delivery: Delivery, by: 'length' | 'chunked' | 'close'): void {
  const half = delivery.body.subarray(0, Math.ceil(delivery.body.length / 2));
  const { socket } = response;
  if (by === 'close') {
    // Written directly to the socket, because `response` would use chunked encoding. Only the end of the
    // connection ends this body.
    const lines = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket?.write(`HTTP/1.1 ${delivery.status} OK\r\n${lines.join('')}connection: close\r\n\r\n`);
    socket?.end(half);
    return;
  }
  const length = by === 'length' ? { 'content-length': String(delivery.body.length) } : {};
  response.writeHead(delivery.status, { ...delivery.headers, ...length });
  response.write(half, () => socket?.destroySoon());
}

/** Sends a response in the manner of its delivery. */
export async function send(response: ServerResponse, delivery: Delivery): Promise<void> {
  const { manner, body, headers, status } = delivery;
  if (manner.kind === 'stall') return;
  if (manner.kind === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (manner.kind === 'cut') return cut(response, delivery, manner.by);
  if (manner.kind === 'late') await pause(manner.afterMs, undefined, { ref: false });
  if (response.destroyed) return;
  const streamed = manner.kind === 'endless';
  response.writeHead(status, streamed ? headers : { ...headers, 'content-length': String(body.length) });
  if (manner.kind === 'endless') return endless(response, manner.bytes);
  if (manner.kind === 'drip') return drip(response, body, manner.everyMs);
  response.end(body);
}
