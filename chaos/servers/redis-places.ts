import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { until } from '../until.ts';

const SLOTS = 16_384;

/** A started redis-server. */
export interface RedisNode {
  readonly port: number;
  readonly process: ChildProcess;
  /** Arguments of its start. */
  readonly args: readonly string[];
}

/** Starts servers of redis-server from PATH, alone, as a cluster or behind sentinels, and ends all of them. */
export class RedisPlaces {
  readonly #running = new Map<number, ChildProcess>();
  #dir: Promise<string> | undefined;

  /** Starts a server with some settings, such as `--requirepass` and its value. */
  async start(...settings: string[]): Promise<RedisNode> {
    const port = await findFreePort();
    return this.#spawn(port, [
      ...['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'],
      ...['--maxmemory-policy', 'noeviction', '--dir', await this.#directory(), ...settings],
    ]);
  }

  /** Starts a cluster of three primaries, each with a replica. @returns its nodes, the primaries first */
  async startCluster(): Promise<readonly RedisNode[]> {
    const nodes: RedisNode[] = [];
    // Without separate bus ports these would be 10,000 higher, possibly above the maximum.
    const buses: string[] = [];
    for (let n = 0; n < 6; n++) {
      const file = `nodes-${n}.conf`;
      const bus = String(await findFreePort());
      buses.push(bus);
      nodes.push(
        await this.start(
          ...['--cluster-enabled', 'yes', '--cluster-config-file', file, '--cluster-node-timeout', '1000'],
          ...['--cluster-port', bus, '--repl-diskless-sync-delay', '0'],
        ),
      );
    }
    const clients = nodes.map(({ port }) => new Redis(port));
    try {
      const ids = await Promise.all(clients.map(async (client) => String(await client.cluster('MYID'))));
      for (const [at, { port }] of nodes.entries())
        await clients[0]?.call('CLUSTER', 'MEET', '127.0.0.1', String(port), buses[at] ?? '');
      for (const [at, client] of clients.slice(0, 3).entries())
        await client.call(
          'CLUSTER',
          'ADDSLOTSRANGE',
          String(Math.ceil((SLOTS * at) / 3)),
          String(Math.ceil((SLOTS * (at + 1)) / 3) - 1),
        );
      const hasAllNodes = async (client: Redis) =>
        /cluster_known_nodes:6\b/.test(String(await client.cluster('INFO')));
      for (const client of clients) await until('every node to discover all', () => hasAllNodes(client));
      for (const [at, client] of clients.slice(3).entries())
        await client.call('CLUSTER', 'REPLICATE', ids[at] ?? '');
      for (const client of clients)
        await until('the cluster to be complete', async () =>
          /cluster_state:ok/.test(String(await client.cluster('INFO'))),
        );
      for (const client of clients.slice(3))
        await until('a replica to follow', async () =>
          /master_link_status:up/.test(await client.info('replication')),
        );
      return nodes;
    } finally {
      for (const client of clients) client.disconnect();
    }
  }

  /** Starts a primary, its replica, and three sentinels that watch it as `recorder`. */
  async startSentinels() {
    const primary = await this.start();
    const replica = await this.start('--replicaof', `127.0.0.1 ${primary.port}`);
    const client = new Redis(replica.port);
    await until('a replica to follow', async () =>
      /master_link_status:up/.test(await client.info('replication')),
    );
    client.disconnect();
    const sentinels: RedisNode[] = [];
    for (let n = 0; n < 3; n++) {
      const port = await findFreePort();
      const file = join(await this.#directory(), `sentinel-${n}.conf`);
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `sentinel monitor recorder 127.0.0.1 ${primary.port} 2`,
        'sentinel down-after-milliseconds recorder 1000',
        'sentinel failover-timeout recorder 5000',
      ];
      await writeFile(file, `${lines.join('\n')}\n`);
      sentinels.push(await this.#spawn(port, [file, '--sentinel']));
    }
    for (const { port } of sentinels) {
      const sentinel = new Redis(port);
      await until('the sentinels to discover each other', async () => {
        const reply = String(await sentinel.call('SENTINEL', 'master', 'recorder'));
        return /num-slaves,1\b/.test(reply) && /num-other-sentinels,2\b/.test(reply);
      });
      sentinel.disconnect();
    }
    return { primary, replica, sentinels };
  }

  /** Waits until the replica of a server has its writes: others are lost with the server. */
  async replicated({ port }: RedisNode): Promise<void> {
    const client = new Redis(port);
    const readOffset = async (name: RegExp) =>
      Number(name.exec(await client.info('replication'))?.[1] ?? Number.NaN);
    try {
      const written = await readOffset(/^master_repl_offset:(\d+)/m);
      await until(
        'a replica to have all writes',
        async () => (await readOffset(/^slave0:.*offset=(\d+)/m)) >= written,
      );
    } finally {
      client.disconnect();
    }
  }

  /** Ends a server at once, like a crash. */
  async kill({ port, process }: Pick<RedisNode, 'port' | 'process'>): Promise<void> {
    this.#running.delete(port);
    process.kill('SIGKILL');
    if (process.exitCode === null && process.signalCode === null) await once(process, 'exit');
  }

  /** Starts a killed server again on its port. Its data is lost. */
  again({ port, args }: RedisNode, ...settings: string[]): Promise<RedisNode> {
    return this.#spawn(port, [...args, ...settings]);
  }

  async stop(): Promise<void> {
    for (const [port, process] of [...this.#running]) await this.kill({ port, process });
    if (this.#dir) await rm(await this.#dir, { recursive: true, force: true });
    this.#dir = undefined;
  }

  #directory(): Promise<string> {
    this.#dir ??= mkdtemp(join(tmpdir(), 'recorder-redis-'));
    return this.#dir;
  }

  async #spawn(port: number, args: readonly string[]): Promise<RedisNode> {
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#running.set(port, server);
    const output: string[] = [];
    for await (const line of createInterface(server.stdout)) {
      output.push(line);
      if (/Ready to accept connections|Sentinel ID is/.test(line)) {
        server.stdout.resume();
        return { port, process: server, args };
      }
    }
    throw new Error(`redis-server did not start\n${output.join('\n')}`);
  }
}
