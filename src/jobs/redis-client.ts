import { Cluster, type CommonRedisOptions, Redis } from 'ioredis';
import type { RedisPlace } from '../config/redis-url.ts';

/** How long and how often a client tries. All times in ms. */
export interface Patience
  extends Pick<
    CommonRedisOptions,
    'connectTimeout' | 'commandTimeout' | 'maxRetriesPerRequest' | 'enableReadyCheck'
  > {
  /** Connects when it is told to. Otherwise at once, and again and again. */
  readonly lazyConnect?: boolean;
  /** How often a command follows the slots of a cluster. Otherwise as long as a replica may need to take over. */
  readonly maxRedirections?: number;
  /** The time before attempt number `times` to connect; null: there is none. */
  readonly retryStrategy: (times: number) => number | null;
}

/**
 * A connection that gets no answer for so long is given up, in ms: a primary that hangs looks alive, and takes what is sent to it
 * although another one took its place; a host that vanished, or a firewall that forgot the connection, says nothing either, and TCP
 * alone would need a quarter of an hour to notice. BullMQ's workers wait for at most 10 s.
 */
const SILENCE = 12_000;
/** What a primary says that came back, or was made, a replica. Redis 6 says it within what it says of the script. */
const isReplicas = ({ message }: Error): boolean => message.includes('READONLY');
/** A command follows the slots of a cluster so often while a replica takes over. */
const REDIRECTIONS = 2_000;
const SENTINEL_PATIENCE = 2_000;

/** The client of a Redis. A replica that takes over is followed: in a cluster by its slots, behind sentinels by what they say. */
export function redisClient(
  place: RedisPlace,
  { retryStrategy, lazyConnect = false, maxRedirections = REDIRECTIONS, ...patience }: Patience,
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
        socketTimeout: SILENCE,
        // Its address may lead to another one by now (a name in DNS, a balancer): what is open stays with the old one. The command fails,
        // so that a Redis that stays a replica is told.
        reconnectOnError: isReplicas,
      });
    case 'cluster':
      return new Cluster([...place.nodes], {
        lazyConnect,
        maxRedirections,
        // Where the check fails, the promise of `connect` never settles (ioredis 6.0), and a worker of BullMQ that waits for it is stalled
        // for ever. What a cluster refuses meanwhile is sent again.
        enableReadyCheck: false,
        clusterRetryStrategy: retryStrategy,
        // A certificate is made out to a name, and a cluster answers with addresses where names are resolved too early.
        ...(place.tls ? { dnsLookup: (address, found) => found(null, address) } : {}),
        redisOptions: { ...access, socketTimeout: SILENCE },
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
        sentinelCommandTimeout: SENTINEL_PATIENCE,
        socketTimeout: SILENCE,
        // A primary that came back as a replica refuses writes: ask the sentinels again.
        reconnectOnError: (error) => (isReplicas(error) ? 2 : false),
        enableTLSForSentinelMode: place.tls,
        ...(place.sentinelUsername === undefined ? {} : { sentinelUsername: place.sentinelUsername }),
        ...(place.sentinelPassword === undefined ? {} : { sentinelPassword: place.sentinelPassword }),
      });
  }
}
