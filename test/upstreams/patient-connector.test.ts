import type { LookupFunction } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { createConnector } from '../../src/upstreams/http.ts';
import { slowServer } from '../support/slow-server.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

it('connects to an address that takes longer than 250 ms, though the other one is unreachable', async () => {
  const server = await slowServer();
  closers.push(() => server.close());
  let lookups = 0;
  const lookup: LookupFunction = (_name, _options, callback) => {
    callback(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    lookups += 1;
    // The packet is lost, and sent again a second later.
    if (lookups === 2) setTimeout(server.resume, 100);
  };
  const agent = new Agent({ connect: createConnector({ lookup }) });
  closers.push(() => agent.destroy());
  const { body } = await request(`http://two-addresses.example:${server.port}`, { dispatcher: agent });
  expect(await body.text()).toBe('here');
  expect(lookups).toBe(2);
});
