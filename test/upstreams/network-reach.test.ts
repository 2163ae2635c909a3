import { describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { type Endpoint, NetworkReach, type Reach } from '../../src/upstreams/network-reach.ts';
import { rawServer } from '../support/upstream-server.ts';

const REMOTE = ['https://metrics.example', 'http://10.0.0.1:9650', 'http://[2001:db8::1]:9650/node'];
const LOCAL = 'http://127.0.0.1:9650';

/** A network in which each host is reached as the test says. */
function network(reach: Readonly<Record<string, Reach>>) {
  const tried: string[] = [];
  const reachOf = async ({ host, port }: Endpoint) => {
    tried.push(`${host} ${port}`);
    return reach[host] ?? 'failed';
  };
  return { network: new NetworkReach([...REMOTE, LOCAL], reachOf), tried };
}

describe('the recorder is cut off', () => {
  it('while no upstream over the network can be reached, each by its own port', async () => {
    const { network: all, tried } = network({ '127.0.0.1': 'local' });
    for (const url of REMOTE) expect(await all.isCutOffFrom(url)).toBe(true);
    expect(new Set(tried)).toEqual(
      new Set(['metrics.example 443', '10.0.0.1 9650', '2001:db8::1 9650', '127.0.0.1 9650']),
    );
  });

  it.each(REMOTE)('not while %s can be reached: another node that fails is down', async (url) => {
    const host = new URL(url).hostname.replace(/[[\]]/g, '');
    const { network: all } = network({ [host]: 'reached' });
    for (const other of REMOTE) expect(await all.isCutOffFrom(other)).toBe(false);
  });

  it('not for a node on this machine or in a container on it, whatever the network does', async () => {
    expect(await network({ '127.0.0.1': 'local' }).network.isCutOffFrom(LOCAL)).toBe(false);
  });

  it('not by what this machine itself answers: a real server on the loopback is local', async () => {
    const server = await rawServer(() => {});
    const closed = `http://localhost:${await findFreePort()}`;
    const unroutable = 'http://node.invalid:9650';
    const all = new NetworkReach([server.url, closed, unroutable]);
    expect(await all.isCutOffFrom(server.url)).toBe(false);
    expect(await all.isCutOffFrom(closed)).toBe(false);
    expect(await all.isCutOffFrom(unroutable)).toBe(true);
    await server.close();
  });

  it('shares one check among failures of one moment, and checks again later', async () => {
    const { network: all, tried } = network({});
    await Promise.all(REMOTE.map((url) => all.isCutOffFrom(url)));
    // Each failing upstream is tried itself, and all of them once.
    expect(tried).toHaveLength(REMOTE.length + REMOTE.length + 1);
  });
});
