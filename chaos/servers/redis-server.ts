import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { findFreePort } from '../../src/db/embedded/free-port.ts';

/** The Redis of a run: it stores nothing on disk, so that a restart loses everything. */
export class RedisServer {
  readonly port: number;
  readonly #dir: string;
  #process: ChildProcess | null = null;

  private constructor(port: number, dir: string) {
    this.port = port;
    this.#dir = dir;
  }

  /** Starts one from PATH on a free port. @throws Error if there is none */
  static async start(): Promise<RedisServer> {
    const dir = await mkdtemp(join(tmpdir(), 'chaos-redis-'));
    const server = new RedisServer(await findFreePort(), dir);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(more: readonly string[] = []): Promise<void> {
    await mkdir(this.#dir, { recursive: true });
    const memory = ['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'];
    const where = ['--bind', '127.0.0.1', '--port', String(this.port), '--dir', this.#dir];
    const child = spawn('redis-server', [...where, ...memory, ...more], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#process = child;
    await once(child, 'spawn');
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) if (line.includes('Ready to accept connections')) break;
    child.stdout.resume();
  }

  /** Ends it at once; its data is lost. */
  async crash(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Freezes its process. @returns a function that lets it continue */
  freeze(): () => void {
    const child = this.#process;
    child?.kill('SIGSTOP');
    return () => child?.kill('SIGCONT');
  }

  /** Removes its directory, so that it cannot save until it is started again. */
  async loseDirectory(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** Sends one command over a separate connection. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const redis = new Redis(this.url, { maxRetriesPerRequest: 1 });
    redis.on('error', () => {});
    try {
      return await redis.call(name, ...args);
    } finally {
      redis.disconnect();
    }
  }

  async stop(): Promise<void> {
    await this.crash();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
