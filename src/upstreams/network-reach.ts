import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Host and port of an upstream. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Result of an attempt to connect by TCP. `local`: the endpoint is on this machine, which proves nothing
 * about the network.
 */
export type Reach = 'reached' | 'failed' | 'local';

const CONNECT_TIMEOUT_MS = 3_000;
/** Timeout of a name lookup and a connection together, in ms. A lookup alone may take minutes. */
const REACH_TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 256;
/** Time for which a result is cached after its check, in ms. Concurrent probes share one check. */
const RESULT_TTL_MS = 2_000;

/** Names of network interfaces of containers and virtual machines on this machine. */
const BRIDGE =
  /^(docker|podman|br-|veth|virbr|vmnet|vboxnet|lxcbr|lxdbr|incusbr|cni|cbr|flannel|cali|nerdctl|kube)/;
/** Error codes that prove that the host was reached. */
const HOST_REACHED_CODES: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET']);

/**
 * Checks by TCP connections whether this machine is cut off from the network. The machine is cut off while
 * every upstream on the network fails at the network level. Upstreams on this machine and behind its
 * container bridges are not on the network.
 */
export class NetworkReach {
  readonly #endpoints: readonly Endpoint[];
  readonly #reachOf: (endpoint: Endpoint) => Promise<Reach>;
  /**
   * Unfinished checks by endpoint, also after their timeout: a name lookup occupies a thread until its end.
   */
  readonly #pending = new Map<string, Promise<Reach>>();
  #result: { until: number; readonly isCutOff: Promise<boolean> } | null = null;

  /**
   * @param urls URLs of all upstreams
   * @param reachOf connects to an endpoint
   * @param timeout time after which a connection has failed, in ms
   */
  constructor(urls: readonly string[], reachOf = tryConnection, timeout = REACH_TIMEOUT_MS) {
    const endpoints = urls.map(endpointOf).map((endpoint) => [JSON.stringify(endpoint), endpoint] as const);
    this.#endpoints = [...new Map(endpoints).values()];
    this.#reachOf = (endpoint) =>
      Promise.race([this.#check(endpoint, reachOf), delay(timeout, 'failed' as const, { ref: false })]);
  }

  /** Starts a check of an endpoint, or returns the unfinished one. */
  #check(endpoint: Endpoint, reachOf: typeof tryConnection): Promise<Reach> {
    const key = JSON.stringify(endpoint);
    const check = this.#pending.get(key) ?? reachOf(endpoint).finally(() => this.#pending.delete(key));
    this.#pending.set(key, check);
    return check;
  }

  /** Returns whether this machine is cut off, so that the upstream may not be the cause of a failure. */
  async isCutOffFrom(url: string): Promise<boolean> {
    // The upstream itself is checked first: while its host responds, neither the network nor other upstreams
    // matter.
    if ((await this.#reachOf(endpointOf(url))) !== 'failed') return false;
    if (!this.#result || this.#result.until < performance.now()) {
      const result = { until: Number.POSITIVE_INFINITY, isCutOff: this.#isCutOff() };
      this.#result = result;
      await result.isCutOff;
      result.until = performance.now() + RESULT_TTL_MS;
    }
    return this.#result.isCutOff;
  }

  async #isCutOff(): Promise<boolean> {
    for (let at = 0; at < this.#endpoints.length; at += MAX_CONNECTIONS) {
      const some = this.#endpoints.slice(at, at + MAX_CONNECTIONS);
      const reached = some.map(async (endpoint) => {
        if ((await this.#reachOf(endpoint)) !== 'reached') throw new Error('not reached');
      });
      if (
        await Promise.any(reached).then(
          () => true,
          () => false,
        )
      )
        return false;
    }
    return true;
  }
}

function endpointOf(url: string): Endpoint {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) };
}

async function tryConnection({ host, port }: Endpoint): Promise<Reach> {
  const addresses = await lookup(host, { all: true }).catch(() => []);
  if (addresses.length === 0) return 'failed';
  const remote = remoteOf(addresses);
  if (remote.length === 0) return 'local';
  return new Promise((resolve) => {
    const socket = connect({
      ...{ host, port, autoSelectFamily: true, timeout: CONNECT_TIMEOUT_MS },
      lookup: (_host, _options, found) => found(null, remote),
    });
    const end = (reach: Reach) => {
      socket.destroy();
      resolve(reach);
    };
    socket.once('connect', () => end('reached'));
    socket.once('timeout', () => end('failed'));
    socket.on('error', (error) => end(isHostError(error) ? 'reached' : 'failed'));
  });
}

/** Returns whether the host itself caused an error, at any of its addresses. */
export const isHostError = (error: Error): boolean =>
  error instanceof AggregateError
    ? error.errors.some(isHostError)
    : 'code' in error && HOST_REACHED_CODES.has(error.code);

/**
 * Returns the addresses on the network. A response from an address of this machine does not prove that the
 * network works.
 */
export const remoteOf = (addresses: readonly LookupAddress[], local = localAddresses()): LookupAddress[] =>
  addresses.filter(({ address, family }) => !local.check(address, family === 6 ? 'ipv6' : 'ipv4'));

/** Returns the addresses of this machine and of its container bridges. */
export function localAddresses(interfaces = networkInterfaces()): BlockList {
  const local = new BlockList();
  local.addSubnet('127.0.0.0', 8, 'ipv4');
  local.addAddress('::1', 'ipv6');
  // A connection to the unspecified address reaches this machine.
  local.addAddress('0.0.0.0', 'ipv4');
  local.addAddress('::', 'ipv6');
  for (const [name, addresses = []] of Object.entries(interfaces))
    for (const { address, family, cidr } of addresses) {
      const type = family === 'IPv6' ? 'ipv6' : 'ipv4';
      const prefix = BRIDGE.test(name) ? Number(cidr?.split('/')[1]) : Number.NaN;
      if (Number.isInteger(prefix)) local.addSubnet(address, prefix, type);
      else local.addAddress(address, type);
    }
  return local;
}
