import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { expect } from 'vitest';
import type { Logo } from '../../src/server/status-site.ts';
import { withPages } from '../support/fixture.ts';

/** More than systems buffer for a client that does not read. */
const LARGE = Buffer.alloc(24 << 20, 'x');
const logo: Logo = { type: 'image/png', ending: '.png', body: LARGE };
const site = { title: 'Nodes', text: [], logo, nodes: [], announced: { once: [], recurring: [] } };

const { it, server, sendRequest } = withPages({ site, stallTimeoutMs: 500 });
it('closes the connection of a client that requests and does not read', async () => {
  const accepted = new Promise<Socket>((resolve) => {
    const onSocket = (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('socket' in message)) return;
      if (!(message.socket instanceof Socket)) return;
      unsubscribe('net.server.socket', onSocket);
      resolve(message.socket);
    };
    subscribe('net.server.socket', onSocket);
  });
  const { hostname, port } = new URL(server.address);
  const client = connect(Number(port), hostname).on('error', () => {});
  client.write('GET /status.logo HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await once(await accepted, 'close');
  client.destroy();
});

it('sends everything to a client that reads', async () => {
  expect((await sendRequest('/status.logo')).body).toHaveLength(LARGE.length);
});
