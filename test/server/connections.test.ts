import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitConnections } from '../../src/server/connections.ts';
import { gate } from '../support/scripted-feed.ts';

const MAX = 5;
const RESERVED = 2;

let server: FastifyInstance;
let port: number;
let reached: number;
/** Number of requests for the slow path that were started. */
let served: number;
let slow: ReturnType<typeof gate<void>>;
let sockets: Socket[];

beforeEach(async () => {
  server = Fastify({ forceCloseConnections: true });
  reached = 0;
  served = 0;
  sockets = [];
  slow = gate();
  limitConnections(server, { max: MAX, reserved: RESERVED }, () => {
    reached += 1;
  });
  server.get('/health', () => 'up');
  server.addHook('onResponse', async () => {
    server.server.emit('finished');
  });
  server.get('/page', () => 'a page');
  server.get('/slow', async () => {
    served += 1;
    await slow.opened;
    return 'slow';
  });
  port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterEach(async () => {
  slow.open();
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Opens a connection, and waits until the server has accepted it. */
async function openConnection(): Promise<Socket> {
  const accepted = once(server.server, 'connection');
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {}); // the server may destroy it
  sockets.push(socket);
  await accepted;
  return socket;
}

/** Sends a request on a connection, and waits until the server has started it. */
async function startRequest(socket: Socket, path: string): Promise<void> {
  const started = once(server.server, 'request');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  await started;
}

/** The response to a request on a separate connection; empty: the server closed it. */
async function answer(path: string): Promise<string> {
  const socket = await openConnection();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  return text(socket).catch(() => '');
}

describe('a server with its maximum of connections', () => {
  it('without a request closes the oldest of them for each new one, and serves every path', async () => {
    const idle: Socket[] = [];
    for (let number = 0; number < MAX; number++) idle.push(await openConnection());
    expect(reached).toBe(0);
    for (const path of ['/page', '/health']) expect(await answer(path)).toMatch(/^HTTP\/1\.1 200 /);
    expect(reached).toBeGreaterThan(0);
    const [first, second, third] = idle;
    await expect.poll(() => first?.destroyed).toBe(true);
    expect([second?.destroyed, third?.destroyed]).toContain(false);
  });

  it('keeps those that once sent a request before those that never did', async () => {
    const kept = await openConnection();
    await startRequest(kept, '/page');
    await once(kept, 'data');
    const silent: Socket[] = [];
    while (silent.length < MAX - 1) silent.push(await openConnection());
    await openConnection();
    await expect.poll(() => silent[0]?.destroyed).toBe(true);
    expect(kept.destroyed).toBe(false);
  });

  it('with requests serves health beside them, refuses pages, and ends no request', async () => {
    const busy: Socket[] = [];
    while (busy.length < MAX) {
      const socket = await openConnection();
      await startRequest(socket, '/slow');
      busy.push(socket);
    }
    // Also if the reserved connections are held by clients that send nothing, or an incomplete request.
    for (let number = 0; number < RESERVED; number++) await openConnection();
    expect(await answer('/health')).toMatch(/^HTTP\/1\.1 200 [\s\S]*up$/);
    for (const method of ['POST', 'GET'])
      for (let number = 0; number < RESERVED; number++) {
        const started = once(server.server, 'request');
        (await openConnection()).write(
          `${method} /health HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nslow`,
        );
        await started;
      }
    expect(await answer('/health')).toMatch(/^HTTP\/1\.1 200 [\s\S]*up$/);
    const refused = await answer('/page');
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/retry-after: \d+/i);
    const answers = busy.map((socket) => once(socket, 'data').then(([data]) => String(data)));
    slow.open();
    for (const one of await Promise.all(answers)) expect(one).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it('closes a connection that sends many requests at once, and starts none of the rest', async () => {
  const socket = await openConnection();
  socket.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200));
  expect(await text(socket).catch(() => '')).toBe('');
  expect(served).toBeLessThan(20);
  expect(await answer('/health')).toMatch(/^HTTP\/1\.1 200 /);
});

it('serves sequential requests of a client without limit, and a few at once', async () => {
  const socket = await openConnection();
  const received = text(socket);
  for (let number = 0; number < 50; number++) {
    await startRequest(socket, '/page');
    await once(server.server, 'finished');
  }
  socket.end('GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(5));
  expect((await received).match(/HTTP\/1\.1 200 /g)).toHaveLength(55);
});
