import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import {
  type Endpoint,
  isHostError,
  localAddresses,
  NetworkReach,
  type Reach,
  remoteOf,
} from '../../src/upstreams/network-reach.ts';
import { rawServer } from '../support/upstream-server.ts';

const REMOTE = ['https://metrics.example', 'http://10.0.0.1:9650', 'http://[2001:db8::1]:9650/node'];
const LOCAL = 'http://127.0.0.1:9650';

/** A network in which the test sets the result of each host. */
function network(reach: Readonly<Record<string, Reach>>) {
  const tried: string[] = [];
  const reachOf = async ({ host, port }: Endpoint) => {
    tried.push(`${host} ${port}`);
    return reach[host] ?? 'failed';
  };
  return { networkReach: new NetworkReach([...REMOTE, LOCAL], reachOf), tried };
}

describe('the recorder is cut off', () => {
  it('while no upstream over the network can be reached, each by its own port', async () => {
    const { networkReach, tried } = network({ '127.0.0.1': 'local' });
    for (const url of REMOTE) expect(await networkReach.isCutOffFrom(url)).toBe(true);
    expect(new Set(tried)).toEqual(
      new Set(['metrics.example 443', '10.0.0.1 9650', '2001:db8::1 9650', '127.0.0.1 9650']),
    );
  });

  it.each(REMOTE)('not while %s can be reached: another failing node is down', async (url) => {
    const host = new URL(url).hostname.replace(/[[\]]/g, '');
    const { networkReach } = network({ [host]: 'reached' });
    for (const other of REMOTE) expect(await networkReach.isCutOffFrom(other)).toBe(false);
  });

  it('not for a node on this machine or in a container on it, whatever the network is', async () => {
    expect(await network({ '127.0.0.1': 'local' }).networkReach.isCutOffFrom(LOCAL)).toBe(false);
  });

  it('not by failures of this machine itself: a real server on the loopback is local', async () => {
    const server = await rawServer(() => {});
    const closed = `http://localhost:${await findFreePort()}`;
    const unroutable = 'http://node.invalid:9650';
    const networkReach = new NetworkReach([server.url, closed, unroutable]);
    expect(await networkReach.isCutOffFrom(server.url)).toBe(false);
    expect(await networkReach.isCutOffFrom(closed)).toBe(false);
    expect(await networkReach.isCutOffFrom(unroutable)).toBe(true);
    await server.close();
  });

  it('after one check that failures of one moment share, and checks again later', async () => {
    const { networkReach, tried } = network({});
    await Promise.all(REMOTE.map((url) => networkReach.isCutOffFrom(url)));
    // Each failing upstream is tried itself, and all of them once.
    expect(tried).toHaveLength(REMOTE.length + REMOTE.length + 1);
  });

  it('while no connection attempt ends: a name lookup may take minutes', async () => {
    const hanging = new NetworkReach(REMOTE, () => new Promise<Reach>(() => {}), 1);
    for (const url of REMOTE) expect(await hanging.isCutOffFrom(url)).toBe(true);
  });

  it('without a second lookup of a name while the first one is unfinished', async () => {
    let lookups = 0;
    const lookUpForever = () => {
      lookups++;
      return new Promise<Reach>(() => {});
    };
    const networkReach = new NetworkReach(['http://node.example:9650'], lookUpForever, 1);
    for (let probe = 0; probe < 3; probe++)
      expect(await networkReach.isCutOffFrom('http://node.example:9650')).toBe(true);
    expect(lookups).toBe(1);
  });

  it('not if any address of a host refuses the connection', async () => {
    const port = await findFreePort();
    const addresses = ['2001:db8::1', '127.0.0.1'].map((address, at) => ({
      address,
      family: at === 0 ? 6 : 4,
    }));
    const error = await new Promise<Error>((resolve) => {
      const host = { host: 'node.example', port, autoSelectFamily: true };
      connect({ ...host, lookup: (_host, _options, callback) => callback(null, addresses) }).once(
        'error',
        resolve,
      );
    });
    expect(error).toBeInstanceOf(AggregateError);
    expect(isHostError(error)).toBe(true);
    expect(isHostError(Object.assign(new Error(), { code: 'ENETUNREACH' }))).toBe(false);
  });

  it('only by addresses on the network, if a host has some on this machine, too', () => {
    const [own, other] = [
      { address: '::1', family: 6 },
      { address: '10.0.0.9', family: 4 },
    ];
    expect(remoteOf([own, other])).toEqual([other]);
    expect(remoteOf([own])).toEqual([]);
  });
});

describe('an address is on this machine', () => {
  const address = (cidr: string) => ({
    ...{ address: cidr.split('/')[0] ?? '', cidr, netmask: '', mac: '', internal: false },
    ...(cidr.includes(':') ? { family: 'IPv6' as const, scopeid: 0 } : { family: 'IPv4' as const }),
  });
  const local = localAddresses({
    eth0: [address('10.0.0.5/24'), address('fd00:1::5/64')],
    docker0: [address('172.17.0.1/16')],
    'br-0123456789ab': [address('192.168.48.1/20'), address('fd00:2::1/64')],
    br0: [address('192.168.1.2/24')],
    wg0: [address('10.8.0.2/24')],
    tailscale0: [address('100.64.0.2/32')],
  });

  it.each([
    ...['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::'],
    ...['10.0.0.5', 'fd00:1::5', '172.17.3.4', '192.168.63.254', 'fd00:2::beef', '10.8.0.2'],
  ])('%s', (one) => expect(local.check(one, one.includes(':') ? 'ipv6' : 'ipv4')).toBe(true));

  it.each(['10.0.0.6', 'fd00:1::6', '172.18.0.1', '192.168.64.1', '192.168.1.3', '10.8.0.1', '100.64.0.3'])(
    'not %s: it is on the network, on the network of a bridged interface, or in a VPN',
    (one) => expect(local.check(one, one.includes(':') ? 'ipv6' : 'ipv4')).toBe(false),
  );
});
