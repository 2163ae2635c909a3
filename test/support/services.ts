import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, constants, mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';

/** A server for the tests, by its URL. */
export interface Service {
  url: string;
  stop(): Promise<void>;
}

/** The servers of one test run. */
export interface Services {
  /** Description of the servers, for the output of the test run. */
  means: string;
  postgres: Service;
  /** Undefined without a Docker engine and a redis-server. */
  redis: Service | undefined;
}

/** Images of other versions to test on; then no other servers are used. */
const { TEST_POSTGRES_IMAGE: POSTGRES_IMAGE, TEST_REDIS_IMAGE: REDIS_IMAGE } = process.env;

// No data outlives the run, so nothing has to survive a crash.
const hasty = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  checkpoint_timeout: '1h',
  max_wal_size: '4GB',
  autovacuum: 'off',
  max_connections: 200,
};

/** A folder in memory, and the bytes that must be free there: databases of the tests, the write-ahead log, programs. */
const MEMORY = '/dev/shm';
const MIN_MEMORY_BYTES = 4 * 2 ** 30;

/**
 * Starts one PostgreSQL and one Redis for a test run, on separate ports: in containers if a Docker engine responds,
 * else the embedded PostgreSQL and the redis-server of PATH. Throws if PostgreSQL starts in neither way, or a named
 * image does not start.
 */
export async function startServices(): Promise<Services> {
  const engine = await getContainerRuntimeClient().catch((error: unknown) => {
    if (POSTGRES_IMAGE || REDIS_IMAGE) throw error;
    return undefined;
  });
  if (engine) {
    try {
      const [postgres, redis] = await together(postgresContainer(), redisContainer());
      return { means: 'containers', postgres, redis };
    } catch (error) {
      if (POSTGRES_IMAGE || REDIS_IMAGE) throw error;
      console.warn('The Docker engine answers but starts no test services; going on without it:', error);
    }
  }
  const [postgres, redis] = await together(embeddedPostgres(), redisOfPath());
  return { means: redis ? 'embedded PostgreSQL and redis-server' : 'embedded PostgreSQL', postgres, redis };
}

async function postgresContainer(): Promise<Service> {
  const settings = Object.entries(hasty).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const password = 'recorder';
  const container = await new GenericContainer(POSTGRES_IMAGE ?? 'postgres:17-alpine')
    .withEnvironment({ POSTGRES_USER: 'recorder', POSTGRES_PASSWORD: password, POSTGRES_DB: 'recorder' })
    .withCommand(['postgres', ...settings])
    .withExposedPorts(5432)
    // The image's first, temporary server does not listen on TCP: this waits for the second.
    .withHealthCheck({ test: ['CMD', 'pg_isready', '-h', '127.0.0.1'], interval: 250, retries: 200 })
    .withWaitStrategy(Wait.forAll([Wait.forHealthCheck(), Wait.forListeningPorts()]))
    .start();
  const address = `${container.getHost()}:${container.getMappedPort(5432)}`;
  return {
    url: `postgres://recorder:${password}@${address}/recorder`,
    stop: async () => void (await container.stop()),
  };
}

async function redisContainer(): Promise<Service> {
  const container = await new GenericContainer(REDIS_IMAGE ?? 'redis:7-alpine')
    .withExposedPorts(6379)
    .start();
  const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
  return { url, stop: async () => void (await container.stop()) };
}

async function embeddedPostgres(): Promise<Service> {
  const dir = await mkdtemp(join((await holdsDatabases(MEMORY)) ? MEMORY : tmpdir(), 'recorder-test-'));
  await chmod(dir, 0o755); // as root the server runs as another user
  const ignore = () => {};
  const server = await openEmbedded({ dir, log: { info: ignore, warn: ignore }, settings: hasty });
  const stop = async () => {
    await server.close();
    await rm(dir, { recursive: true });
  };
  return { url: server.url, stop };
}

/**
 * Returns whether a folder in memory has space for the databases and may contain programs. A clone costs a tenth of one
 * on a disk.
 */
async function holdsDatabases(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '));
    const [, , , options = ''] = mounts.findLast(([, at]) => at === path) ?? [];
    return bavail * bsize >= MIN_MEMORY_BYTES && !options.split(',').includes('noexec');
  } catch {
    return false;
  }
}

async function redisOfPath(): Promise<Service | undefined> {
  const port = await findFreePort();
  const dir = await mkdtemp(join(tmpdir(), 'recorder-test-redis-'));
  const memoryOnly = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
  const flags = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, ...memoryOnly];
  const server = spawn('redis-server', flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = async () => {
    if (server.exitCode === null && server.kill()) await once(server, 'exit');
    await rm(dir, { recursive: true });
  };
  try {
    await once(server, 'spawn');
  } catch {
    await rm(dir, { recursive: true });
    return undefined; // not on PATH
  }
  const output: string[] = [];
  for await (const line of createInterface(server.stdout)) {
    output.push(line);
    if (!line.includes('Ready to accept connections')) continue;
    server.stdout.resume();
    return { url: `redis://127.0.0.1:${port}`, stop };
  }
  await stop();
  throw new Error(`redis-server did not start\n${output.join('\n')}`);
}

/** Returns both, or throws the error of the one that did not start, with the other stopped. */
async function together<T extends Service | undefined>(
  first: Promise<Service>,
  second: Promise<T>,
): Promise<[Service, T]> {
  try {
    return await Promise.all([first, second]);
  } catch (error) {
    const outcomes = await Promise.allSettled([first, second]);
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') await outcome.value?.stop();
    throw error;
  }
}
