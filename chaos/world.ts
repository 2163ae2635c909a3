import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { CallRecord } from '../sandbox/ledger/ledger.ts';
import type { SandboxOptions } from '../sandbox/options.ts';
import { type Sandbox, startSandbox } from '../sandbox/server.ts';
import { sessionSettings } from '../src/db/session.ts';
import type { Closers } from './closers.ts';
import { Evidence } from './evidence.ts';
import type { BackendKind, Options } from './options.ts';
import { Random } from './random.ts';
import { RecorderProcess } from './recorder-process.ts';
import type { PoisonedUpstream } from './servers/poisoned-upstream.ts';
import type { PostgresServer } from './servers/postgres-server.ts';
import { TcpProxy } from './servers/proxy.ts';
import { RedisServer } from './servers/redis-server.ts';
import type { RevisingUpstream } from './servers/revising-upstream.ts';
import type { WatchedBlocks } from './truth.ts';

/** Resources that all faults of a run share. */
export interface Setting {
  readonly options: Options;
  readonly postgres: PostgresServer;
  /** The recorder's command line. */
  readonly cli: string;
}

/** The secret that must not appear anywhere. */
export const CANARY = 'canary-7f3c1d9e5b2a4860';

/** Resources of one fault: a database, a queue, an upstream, a proxy, and recorders. */
export class World {
  readonly setting: Setting;
  readonly backend: BackendKind;
  readonly random: Random;
  readonly evidence = new Evidence();
  readonly closers: Closers;
  readonly dir: string;
  databaseUrl: string;
  /** The database without the proxy. */
  sql: postgres.Sql;
  /** Between recorders and PostgreSQL. */
  readonly proxy: TcpProxy;
  sandbox: Sandbox;
  readonly recorders: RecorderProcess[] = [];
  /** Calls for proposed blocks so far, by chain and node. */
  readonly calls: Map<string, number>;
  /** The part of the sandbox's truth that must be recorded in the end. */
  readonly watched: WatchedBlocks[] = [];
  /** An upstream with known responses, if a fault opened one. */
  revising: RevisingUpstream | null = null;
  /** An upstream that records which sent items cannot be stored, if a fault opened one. */
  poisoned: PoisonedUpstream | null = null;
  #redis: RedisServer | null;

  private constructor(
    parts: Pick<
      World,
      | 'setting'
      | 'backend'
      | 'random'
      | 'closers'
      | 'dir'
      | 'databaseUrl'
      | 'sql'
      | 'proxy'
      | 'sandbox'
      | 'calls'
    >,
    redis: RedisServer | null,
  ) {
    this.setting = parts.setting;
    this.backend = parts.backend;
    this.random = parts.random;
    this.closers = parts.closers;
    this.dir = parts.dir;
    this.databaseUrl = parts.databaseUrl;
    this.sql = parts.sql;
    this.proxy = parts.proxy;
    this.sandbox = parts.sandbox;
    this.calls = parts.calls;
    this.#redis = redis;
  }

  /** Opens one; `closers` end it in all cases. */
  static async open(
    setting: Setting,
    backend: BackendKind,
    closers: Closers,
    sandboxOptions: SandboxOptions = {},
  ): Promise<World> {
    const dir = await mkdtemp(join(tmpdir(), 'chaos-world-'));
    closers.add(() => rm(dir, { recursive: true, force: true }));
    const redis = backend === 'redis' ? await RedisServer.start() : null;
    closers.add(() => redis?.stop());
    const name = `world_${dir
      .slice(-6)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '_')}_${backend}`;
    const databaseUrl = await setting.postgres.clone(name);
    closers.add(() => setting.postgres.drop(name));
    const sql = connect(databaseUrl, closers);
    const proxy = await TcpProxy.open(setting.postgres.port);
    closers.add(() => proxy.close());
    const { seed } = setting.options;
    const calls = new Map<string, number>();
    const requestLog = countingBlocks(calls);
    const sandbox = await startSandbox({ seed, incidents: false, requestLog, ...sandboxOptions });
    closers.add(() => sandbox.close());
    const random = new Random(seed);
    const parts = { setting, backend, random, closers, dir, databaseUrl, sql, proxy, sandbox, calls };
    const world = new World(parts, redis);
    return world;
  }

  /** The Redis of a world with its queue in Redis. @throws Error in others */
  get redis(): RedisServer {
    if (!this.#redis) throw new Error('the queue of this world is in PostgreSQL');
    return this.#redis;
  }

  /** Replaces the sandbox of the world. @param onCall called for every call, after it was counted */
  async openSandbox(
    options: SandboxOptions,
    onCall: (call: CallRecord) => void = () => {},
  ): Promise<Sandbox> {
    this.calls.clear();
    const count = countingBlocks(this.calls);
    const { seed } = this.setting.options;
    const requestLog = (call: CallRecord) => {
      count(call);
      onCall(call);
    };
    const sandbox = await startSandbox({ seed, incidents: false, ...options, requestLog });
    this.closers.add(() => sandbox.close());
    this.sandbox = sandbox;
    return sandbox;
  }

  /** Reads another database from here on, in which the recorder records. @returns that connection */
  useDatabase(url: string): postgres.Sql {
    this.sql = connect(url, this.closers);
    return this.sql;
  }

  /** Writes a configuration file. @returns its path */
  async configure(config: object, name = 'recorder.yaml'): Promise<string> {
    const file = join(this.dir, name);
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  /** Starts a recorder. @param more `proxied`: its database connection uses the proxy; `env`: additional environment */
  recorder(
    args: readonly string[],
    more: { proxied?: boolean; env?: Record<string, string>; node?: readonly string[]; cli?: string } = {},
  ): RecorderProcess {
    const database = more.proxied ? this.proxy.before(this.databaseUrl) : this.databaseUrl;
    const recorder = new RecorderProcess(
      [...(more.node ?? []), more.cli ?? this.setting.cli],
      args,
      this.dir,
      {
        PATH: process.env.PATH ?? '',
        DATABASE_URL: database,
        ...(this.#redis ? { REDIS_URL: this.#redis.url } : {}),
        RECORDER_PORT: '0',
        CHAIN_DATA_API_KEY: CANARY,
        METRICS_API_KEY: CANARY,
        ...more.env,
      },
    );
    this.recorders.push(recorder);
    this.closers.add(() => recorder.end());
    return recorder;
  }

  /** Keeps the output of a recorder for later checks. */
  noteLines(recorder: RecorderProcess): void {
    const where = `the log of ${recorder.args[0]}`;
    const texts = [...recorder.lines, recorder.stdout];
    if (texts.some((text) => text.includes(CANARY)))
      this.evidence.texts.push({ where, text: texts.join('\n') });
  }

  /** Counts the faults that the sandbox served. */
  noteServed(): void {
    for (const [kind, times] of Object.entries(this.sandbox.ledger.faults()))
      this.evidence.served.set(kind, times);
  }
}

/** Connects to a database, whatever its own settings are; `closers` end it. */
export function connect(url: string, closers: Closers): postgres.Sql {
  const connection = {
    ...sessionSettings('work', 'public'),
    application_name: 'chaos',
    statement_timeout: 0,
  };
  const sql = postgres(url, { max: 4, onnotice: () => {}, connection });
  closers.add(() => sql.end({ timeout: 1 }));
  return sql;
}

/** Counts calls for the blocks of a node on a chain. */
function countingBlocks(calls: Map<string, number>) {
  return ({ target }: CallRecord) => {
    const [, chain, node] = /\/blockchains\/([^/]+)\/nodes\/([^/?]+)\/blocks/.exec(target) ?? [];
    if (node !== undefined) calls.set(`${chain} ${node}`, (calls.get(`${chain} ${node}`) ?? 0) + 1);
  };
}
