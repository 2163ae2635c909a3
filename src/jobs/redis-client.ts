import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import type { ParsedRedisUrl } from '../config/redis-url.ts';

/** Timeouts and retries of a client. All times are in ms. */
export interface RedisTimeouts
  extends Pick<
    CommonRedisOptions,
    'connectTimeout' | 'commandTimeout' | 'maxRetriesPerRequest' | 'enableReadyCheck'
  > {
  /** Connects only on `connect()`. Default: immediately, with retries. */
  readonly lazyConnect?: boolean;
  /** Maximum number of redirections of a command in a cluster. Default: enough for a failover. */
  readonly maxRedirections?: number;
  /** Returns the delay before connection attempt number `times`, in ms. Null: no more attempts. */
  readonly retryStrategy: (times: number) => number | null;
}

/**
 * Time without a response after which a connection is closed, in ms. A hung primary keeps its connections and
 * accepts commands even after a failover. A vanished host, or a firewall that dropped the connection, sends
 * nothing either, and TCP alone takes a quarter of an hour to detect the loss. BullMQ workers block for at
 * most 10 s.
 */
const SOCKET_TIMEOUT_MS = 12_000;
/**
 * Returns whether an error means that the server is a replica, such as a former primary. Redis 6 wraps this
 * error in the error of a script.
 */
const isReadOnlyError = ({ message }: Error): boolean => message.includes('READONLY');
/** Number of redirections of a command in a cluster, enough for a failover. */
const MAX_REDIRECTIONS = 2_000;
const SENTINEL_TIMEOUT_MS = 2_000;

/**
 * Returns a Redis client that follows failovers: by the slots in a cluster, or by queries of the sentinels.
 */
export function redisClient(
  place: ParsedRedisUrl,
  { retryStrategy, lazyConnect = false, maxRedirections = MAX_REDIRECTIONS, ...patience }: RedisTimeouts,
): Redis | Cluster {
  const access = {
    ...patience,
    ...(place.username === undefined ? {} : { username: place.username }),
    ...(place.password === undefined ? {} : { password: place.password }),
    ...(place.tls ? { tls: {} } : {}),
  };
  switch (place.kind) {
    case 'server':
      return new Redis({
        ...access,
        host: place.host,
        port: place.port,
        db: place.database,
        lazyConnect,
        retryStrategy,
        socketTimeout: SOCKET_TIMEOUT_MS,
        // The address may resolve to another server by now (DNS, load balancer), but an open connection stays
        // with the old server. The command itself fails, so that a server that remains a replica is reported.
        reconnectOnError: isReadOnlyError,
      });
    case 'cluster':
      return new Cluster([...place.nodes], {
        lazyConnect,
        maxRedirections,
        // If the ready check fails, the promise of `connect` never settles (ioredis 6.0), and a BullMQ worker
        // that waits for it hangs forever. Commands that a cluster rejects meanwhile are retried.
        enableReadyCheck: false,
        clusterRetryStrategy: retryStrategy,
        // A TLS certificate is issued for a name, but after an early DNS lookup the client would only have
        // addresses.
        ...(place.tls ? { dnsLookup: (address, found) => found(null, address) } : {}),
        redisOptions: { ...access, socketTimeout: SOCKET_TIMEOUT_MS },
      });
    case 'sentinel':
      return new Redis({
        ...access,
        sentinels: [...place.sentinels],
        name: place.name,
        db: place.database,
        lazyConnect,
        retryStrategy,
        sentinelRetryStrategy: retryStrategy,
        sentinelCommandTimeout: SENTINEL_TIMEOUT_MS,
        socketTimeout: SOCKET_TIMEOUT_MS,
        // A former primary that is now a replica rejects writes. The sentinels are then queried again.
        reconnectOnError: (error) => (isReadOnlyError(error) ? 2 : false),
        enableTLSForSentinelMode: place.tls,
        ...(place.sentinelUsername === undefined ? {} : { sentinelUsername: place.sentinelUsername }),
        ...(place.sentinelPassword === undefined ? {} : { sentinelPassword: place.sentinelPassword }),
      });
  }
}
