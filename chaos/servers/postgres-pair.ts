import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Closers } from '../closers.ts';
import { until } from '../until.ts';
import { PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './proxy.ts';

const DATABASE = 'pair';

/** A primary and a standby that follows it, asynchronously by default, with one migrated database. */
export class PostgresPair {
  /** The server that was writable at first, or since the last `rejoin`. */
  primary: PostgresServer;
  standby: PostgresServer;
  /** The database on each of the two, the first primary's first. */
  readonly urls: readonly [string, string];
  /** The database as DATABASE_URL names it: both servers. */
  readonly url: string;
  readonly #link: TcpProxy;

  private constructor(primary: PostgresServer, standby: PostgresServer, link: TcpProxy) {
    this.primary = primary;
    this.standby = standby;
    this.#link = link;
    this.urls = [primary.urlOf(DATABASE), standby.urlOf(DATABASE)];
    const { host } = new URL(standby.url);
    this.url = this.urls[0].replace(/(@[^/]*)/, `$1,${host}`);
  }

  /**
   * Starts one; `closers` end it.
   * @param more `synchronous`: a commit is acknowledged once the standby has it
   */
  static async start(closers: Closers, more: { synchronous?: boolean } = {}): Promise<PostgresPair> {
    const dir = await mkdtemp(join(tmpdir(), 'chaos-pair-'));
    closers.add(() => rm(dir, { recursive: true, force: true }));
    await chmod(dir, 0o755); // as root the servers run as another user
    const primary = await PostgresServer.start(join(dir, 'a'));
    closers.add(() => primary.stop());
    await primary.clone(DATABASE);
    const link = await TcpProxy.open(primary.port);
    closers.add(() => link.close());
    const standby = await primary.follow(join(dir, 'b'), link.port);
    closers.add(() => standby.stop());
    const pair = new PostgresPair(primary, standby, link);
    await pair.#streams();
    if (more.synchronous) await primary.acknowledgeWithStandby();
    return pair;
  }

  /** The database on the server that `promote` makes the primary. */
  get standbyUrl(): string {
    return this.standby.urlOf(DATABASE);
  }

  /** Holds the replication: later commits are lost with the primary. */
  hold(): void {
    this.#link.weather = { kind: 'black-hole' };
  }

  /** Makes the standby the primary, in any state of the other one. Held changes are lost. */
  async promote(): Promise<void> {
    this.#link.weather = { kind: 'down' };
    this.#link.reset();
    await this.standby.promote();
  }

  /** After a promotion: the killed server restarts as the synchronous standby of the other one. */
  async rejoin(): Promise<void> {
    [this.primary, this.standby] = [this.standby, this.primary];
    await this.standby.startAsStandbyOf(this.primary);
    await this.#streams();
    await this.primary.acknowledgeWithStandby();
  }

  async #streams(): Promise<void> {
    const sql = postgres(this.primary.urlOf(DATABASE), { max: 1 });
    try {
      await until('the standby to stream', async () => {
        const rows = await sql`select 1 from pg_stat_replication where state = 'streaming'`;
        return rows.length > 0;
      });
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
