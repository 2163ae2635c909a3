import { execFile } from 'node:child_process';
import { chown, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { postgresBinaries } from '../../src/db/embedded/binaries.ts';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { embeddedHome } from '../../src/db/embedded/home.ts';
import type { Settings } from '../../src/db/embedded/settings.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { childrenOf, isAlive } from '../processes.ts';
import { eventually, until } from '../until.ts';

const run = promisify(execFile);
const ignore = () => {};
const silent = { info: ignore, warn: ignore };
const TEMPLATE = 'chaos_template';

/** The PostgreSQL server of a run, which can be stopped, killed, frozen and started again on the same port. */
export class PostgresServer {
  readonly url: string;
  readonly #home: Awaited<ReturnType<typeof embeddedHome>>;
  readonly #bin: string;
  readonly #leave: () => Promise<void>;

  private constructor(
    url: string,
    home: Awaited<ReturnType<typeof embeddedHome>>,
    bin: string,
    leave: () => Promise<void>,
  ) {
    this.url = url;
    this.#home = home;
    this.#bin = bin;
    this.#leave = leave;
  }

  /** Starts one in `dir`, with a migrated database to clone. */
  static async start(dir: string): Promise<PostgresServer> {
    const server = await PostgresServer.#open(dir);
    try {
      await server.#administer((sql) => sql`create database ${sql(TEMPLATE)}`);
      await migrate(server.urlOf(TEMPLATE));
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  static async #open(dir: string, more: Settings = {}): Promise<PostgresServer> {
    // Nothing here outlives the machine; processes are killed, and the system keeps their writes.
    const settings = { fsync: 'off', max_connections: 200, wal_keep_size: '512MB', ...more };
    const { url, close } = await openEmbedded({ dir, log: silent, settings });
    const home = await embeddedHome(dir, silent);
    return new PostgresServer(url, home, await postgresBinaries(home), close);
  }

  /**
   * Starts a standby in `dir` that follows this server from now on, asynchronously. It starts with this server's files,
   * for which this one is restarted.
   * @param port of this server for the standby, such as a proxy's
   */
  async follow(dir: string, port: number): Promise<PostgresServer> {
    const home = await embeddedHome(dir, silent);
    await this.#control('stop', '-m', 'fast', '-w');
    for (const name of ['data', 'password'])
      await run('cp', ['-a', join(this.#home.path, name), join(home.path, name)]);
    await this.start();
    await writeFile(join(home.path, 'data', 'standby.signal'), '');
    const { username, password } = new URL(this.url);
    return PostgresServer.#open(dir, {
      primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password}`,
    });
  }

  /**
   * Starts this killed server as a standby of another one that continues meanwhile. Its data is replaced by a copy of
   * the other one's files, as in a base backup.
   */
  async startAsStandbyOf(primary: PostgresServer): Promise<void> {
    const settings = await readFile(join(this.data, 'postgresql.conf'), 'utf8');
    const { uid, gid } = await stat(this.data);
    const write = async (name: string, text: string) => {
      await writeFile(join(this.data, name), text);
      await chown(join(this.data, name), uid, gid);
    };
    const { username, password } = new URL(primary.url);
    await rm(this.data, { recursive: true, force: true });
    await primary.#administer(async (sql) => {
      await sql`select pg_backup_start('standby', true)`;
      // tar returns 1 if files changed while it read them.
      const copying =
        'mkdir -m 700 "$1" && { tar -C "$0" --exclude=./postmaster.* --exclude="./pg_wal/*" -cf - . || test $? -eq 1; } | tar -C "$1" -xpf -';
      await run('/bin/sh', ['-c', copying, primary.data, this.data]);
      const [label] = await sql<{ labelfile: string }[]>`select labelfile from pg_backup_stop(false)`;
      await write('backup_label', label?.labelfile ?? '');
    });
    const conninfo = `host=127.0.0.1 port=${primary.port} user=${username} password=${password}`;
    await write('postgresql.conf', settings);
    await write('postgresql.auto.conf', `primary_conninfo = '${conninfo}'\n`);
    await write('standby.signal', '');
    await this.start();
  }

  /** From now on a commit is acknowledged only once a standby, which has to be there, has it on its disk. */
  async acknowledgeWithStandby(): Promise<void> {
    await this.#administer(async (sql) => {
      await sql`alter system set synchronous_standby_names = '*'`;
      await sql`select pg_reload_conf()`;
      await until('the standby to be synchronous', async () => {
        const rows = await sql`select 1 from pg_stat_replication where sync_state = 'sync'`;
        return rows.length > 0;
      });
    });
  }

  /** Promotes a standby to a writable server. Resolves when it is writable. */
  async promote(): Promise<void> {
    await this.#administer((sql) => sql`select pg_promote(true, 60)`);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Where its files are. */
  get data(): string {
    return join(this.#home.path, 'data');
  }

  /** Creates a migrated, empty database. @returns its URL */
  async clone(name: string): Promise<string> {
    await this.#administer((sql) => sql`create database ${sql(name)} template ${sql(TEMPLATE)}`);
    return this.urlOf(name);
  }

  /** Creates a database without any tables. @param encoding Default: that of the server. @returns its URL */
  async blank(name: string, encoding?: string): Promise<string> {
    const other = `template template0 encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`;
    await this.#administer((sql) => sql.unsafe(`create database "${name}" ${encoding ? other : ''}`));
    return this.urlOf(name);
  }

  /** Copies an unused database: a backup. @returns the copy's name */
  async copy(url: string): Promise<string> {
    const name = new URL(url).pathname.slice(1);
    const copy = `${name}_backup`;
    await this.#administer(async (sql) => {
      await this.#cut(sql, name);
      await sql`create database ${sql(copy)} template ${sql(name)}`;
    });
    return copy;
  }

  /** Replaces a database with a backup, despite open connections. */
  async swap(url: string, backup: string): Promise<void> {
    const name = new URL(url).pathname.slice(1);
    const lost = `${name}_lost`;
    await this.#administer(async (sql) => {
      await sql`alter database ${sql(name)} with allow_connections false`;
      await this.#cut(sql, name);
      await sql`alter database ${sql(name)} rename to ${sql(lost)}`;
      await sql`alter database ${sql(backup)} rename to ${sql(name)}`;
      await sql`drop database ${sql(lost)} with (force)`;
    });
  }

  async #cut(sql: postgres.Sql, name: string): Promise<void> {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
    await until('its sessions to end', async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity where datname = ${name}`;
      return row?.n === 0;
    });
  }

  async drop(name: string): Promise<void> {
    await this.#administer((sql) => sql`drop database if exists ${sql(name)} with (force)`);
  }

  /** Ends it at once, like a crash: no checkpoint, every connection closed. Resolves when it has ended. */
  async crash(): Promise<void> {
    const pid = await this.#postmaster();
    process.kill(pid, 'SIGQUIT');
    await until('PostgreSQL to end', () => !isAlive(pid));
  }

  /** Ends all of its processes with SIGKILL. Resolves when they have ended. */
  async kill(): Promise<void> {
    const pid = await this.#postmaster();
    const all = [pid, ...(await childrenOf(pid))];
    for (const one of all) if (isAlive(one)) process.kill(one, 'SIGKILL');
    await until('PostgreSQL to end', () => !all.some(isAlive));
  }

  /** Starts it again on the same port, after a crash through recovery. Resolves when it accepts connections. */
  async start(): Promise<void> {
    await this.#control('start', '-l', 'postgres.log', '-w', '-t', '100');
  }

  async #control(...args: string[]): Promise<void> {
    const { account, path } = this.#home;
    const [command = '', ...more] = args;
    const options = { ...account, cwd: path, env: { LC_ALL: 'C' } };
    await run(join(this.#bin, 'pg_ctl'), [command, '-D', 'data', ...more], options);
  }

  /** Freezes every process of it. @returns a function that lets them continue */
  async freeze(): Promise<() => void> {
    const pid = await this.#postmaster();
    const frozen = [pid, ...(await childrenOf(pid))];
    const signal = (name: NodeJS.Signals) => {
      for (const one of frozen) if (isAlive(one)) process.kill(one, name);
    };
    signal('SIGSTOP');
    return () => signal('SIGCONT');
  }

  /** Stops it permanently. */
  async stop(): Promise<void> {
    await this.#leave();
  }

  async #postmaster(): Promise<number> {
    const file = await eventually('postmaster.pid', () =>
      readFile(join(this.data, 'postmaster.pid'), 'utf8'),
    );
    await stat(this.data);
    return Number(file.split('\n')[0]);
  }

  /** The URL of one of its databases. */
  urlOf(database: string): string {
    const url = new URL(this.url);
    url.pathname = database;
    return url.href;
  }

  async #administer(statement: (sql: postgres.Sql) => PromiseLike<unknown>): Promise<void> {
    const sql = postgres(this.url, { max: 1, onnotice: ignore });
    try {
      await statement(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  }
}
