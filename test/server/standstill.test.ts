import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Logo } from '../../src/server/status-site.ts';
import { withDatabase } from '../support/fixture.ts';
import { ask, type PageServer, servePagesOf } from '../support/page-server.ts';

/** More than systems keep for somebody who does not read. */
const LARGE = Buffer.alloc(24 << 20, 'x');
const logo: Logo = { type: 'image/png', ending: '.png', body: LARGE };
const site = { title: 'Nodes', text: [], logo, nodes: [], announced: { once: [], recurring: [] } };

const { it, database } = withDatabase();
let server: PageServer;
beforeAll(async () => {
  server = await servePagesOf(database.url, { site, standstill: 500 });
});
afterAll(async () => {
  await server.close();
});

it('who asks for something and reads nothing of it does not keep the connection', async () => {
  const taken = new Promise<Socket>((resolve) => {
    const take = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('socket' in message)) return;
      if (!(message.socket instanceof Socket)) return;
      unsubscribe('net.server.socket', take);
      resolve(message.socket);
    };
    subscribe('net.server.socket', take);
  });
  const { hostname, port } = new URL(server.address);
  const client = connect(Number(port), hostname).on('error', () => {});
  client.write('GET /status.logo HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await once(await taken, 'close');
  client.destroy();
});

it('who reads gets all of it', async () => {
  expect((await ask(`${server.address}/status.logo`)).body).toHaveLength(LARGE.length);
});
