import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { patientConnector } from '../../src/upstreams/patient-connector.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server in a process of its own, which answers every request; what does not fit into its short queue the kernel drops. */
async function server() {
  const program = `const server = require('node:http').createServer((_, answer) => answer.end('here'));
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  closers.push(() => child.kill('SIGKILL'));
  const [port] = await once(child.stdout, 'data');
  return { child, port: Number(port) };
}

/** Fills the queue of a server that stands still: from now on the first packet of a connection is lost. */
async function fill(port: number): Promise<void> {
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  closers.push(() => sockets.map((socket) => socket.destroy()));
  let connected = 0;
  await new Promise<void>((resolve) => {
    for (const socket of sockets) socket.on('connect', () => ++connected === 2 && resolve());
  });
}

it('an address that takes longer than 250 ms is reached, though the other one leads nowhere', async () => {
  const { child, port } = await server();
  child.kill('SIGSTOP');
  await fill(port);
  let asked = 0;
  const lookup: LookupFunction = (_name, _options, found) => {
    found(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    asked += 1;
    // The packet is lost, and comes again a second later.
    if (asked === 2) setTimeout(() => child.kill('SIGCONT'), 100);
  };
  const agent = new Agent({ connect: patientConnector({ lookup }) });
  closers.push(() => agent.destroy());
  const { body } = await request(`http://two-addresses.example:${port}`, { dispatcher: agent });
  expect(await body.text()).toBe('here');
  expect(asked).toBe(2);
});
