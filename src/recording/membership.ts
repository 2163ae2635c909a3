import type postgres from 'postgres';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { UsageError } from '../lib/errors.ts';
import { type Configuration, LIVES_FOR, type Registrant } from './configuration.ts';

/** How long older processes wait, in seconds, before they take the lead back: the newer ones may be restarting. */
const TAKES_BACK_AFTER = 60;
/** How long rows of ended processes are kept. */
const REMEMBERED_FOR = '1 day';
const TRIES = 10;

/** The position of a process among the processes of its recorder. */
export interface Standing {
  /** Its configuration is the newest, so it decides what is wanted. */
  readonly newest: boolean;
  /** Another live worker process has the newest configuration, and this process has an older one. */
  readonly relieved: boolean;
  /** The number of its configuration. */
  readonly generation: number;
}

/**
 * A process of `up` among those of its recorder. The newest configuration decides what is recorded. A configuration that
 * was never seen before is the newest. An earlier one becomes the newest again (a rollback) when no process with the
 * newest one lives.
 */
export class Membership {
  readonly configuration: Configuration;
  readonly #sql: postgres.Sql;
  readonly #process: string;
  readonly #roles: readonly string[];
  #standing: Standing = { newest: false, relieved: false, generation: 0 };

  private constructor(
    sql: postgres.Sql,
    configuration: Configuration,
    process: string,
    roles: readonly string[],
  ) {
    this.#sql = sql;
    this.configuration = configuration;
    this.#process = process;
    this.#roles = roles;
  }

  /**
   * Joins the processes of a recorder. @param process a name that no other process has
   * @throws UsageError when a process of the same name records another network
   */
  static async join(
    sql: postgres.Sql,
    configuration: Configuration,
    process: string,
    roles: readonly string[],
  ): Promise<Membership> {
    await refuseOtherNetwork(sql, configuration);
    const membership = new Membership(sql, configuration, process, roles);
    await takeOver(sql, configuration, { seenWithin: LIVES_FOR, stoppedToo: false });
    await membership.beat();
    return membership;
  }

  /** The recorder's name. */
  get recorder(): string {
    return this.configuration.recorder;
  }

  /** The name of this process, which no other has. */
  get process(): string {
    return this.#process;
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** With what authority this process stores what is wanted. */
  get registrant(): Registrant {
    const { recorder, digest } = this.configuration;
    return { recorder, digest };
  }

  /** Shows a sign of life, and reads the standing of the process. */
  async beat(): Promise<Standing> {
    const { recorder, digest } = this.configuration;
    const look = async () => {
      const [row] = await this.#sql<{ newest: boolean; generation: string; workers: boolean }[]>`
        with beat as (
          insert into recorder.processes as p (process, recorder, digest, roles, started_at, seen_at)
          values (${this.#process}, ${recorder}, ${digest}, ${[...this.#roles]}::text[], now(), now())
          on conflict (process) do update set seen_at = now(), left_at = null
        )
        select c.newest, c.generation, exists (
          select from recorder.configurations n join recorder.processes p using (recorder, digest)
          where n.recorder = c.recorder and n.newest and ${livingWorker(this.#sql)}) as workers
        from recorder.configurations c where c.recorder = ${recorder} and c.digest = ${digest}`;
      return row;
    };
    let row = await look();
    if (!row?.newest) {
      // Also when the database does not know this configuration any more: it may be a restored one.
      await takeOver(this.#sql, this.configuration, { seenWithin: TAKES_BACK_AFTER, stoppedToo: true });
      row = await look();
    }
    const newest = row?.newest ?? false;
    this.#standing = {
      newest,
      relieved: !newest && (row?.workers ?? false),
      generation: Number(row?.generation ?? 0),
    };
    return this.#standing;
  }

  /** The names of the live worker processes that have the recorder's newest configuration. */
  async workers(): Promise<string[]> {
    const rows = await this.#sql<{ process: string }[]>`
      select p.process from recorder.configurations n join recorder.processes p using (recorder, digest)
      where n.recorder = ${this.recorder} and n.newest and ${livingWorker(this.#sql)} order by 1`;
    return rows.map(({ process }) => process);
  }

  /** Stores that the server of the process has its maximum of connections. */
  async noteConnectionsFull(): Promise<void> {
    await this
      .#sql`update recorder.processes set connections_full_at = now() where process = ${this.#process}`;
  }

  /** Says that the process stops. */
  async leave(): Promise<void> {
    await this.#sql`update recorder.processes set left_at = now() where process = ${this.#process}`;
  }
}

/** SQL: the process `p` lives, and works. */
const livingWorker = (sql: postgres.Sql) => sql`'worker' = any(p.roles) and p.left_at is null
  and p.seen_at > now() - make_interval(secs => ${LIVES_FOR})`;

/** How recorders of two networks are told apart. */
export const ANOTHER_NETWORK =
  'give the one for another network a name of its own (name:), or a database of its own (DATABASE_URL; of a Redis that both use ' +
  'another number: redis://host:6379/1)';

async function refuseOtherNetwork(sql: postgres.Sql, { recorder, network }: Configuration): Promise<void> {
  const [other] = await sql<{ network: string; process: string }[]>`
    select c.network, p.process from recorder.processes p join recorder.configurations c using (recorder, digest)
    where p.recorder = ${recorder} and c.network <> ${network} and p.left_at is null
      and p.seen_at > now() - make_interval(secs => ${LIVES_FOR}) limit 1`;
  if (other)
    throw new UsageError([
      `network: the recorder "${recorder}" records ${other.network} in this database (${other.process}): ` +
        ANOTHER_NETWORK,
    ]);
}

/**
 * Makes a configuration the newest one if it was never seen before, or if no process with the newest one shows a sign of
 * life. Two processes that begin at once do this one after the other.
 */
async function takeOver(
  sql: postgres.Sql,
  { recorder, network, digest }: Configuration,
  absent: { readonly seenWithin: number; readonly stoppedToo: boolean },
): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      await sql`
        with superseded as (
          update recorder.configurations c set newest = false
          where c.recorder = ${recorder} and c.newest and c.digest <> ${digest} and (
            not exists (select from recorder.configurations k where k.recorder = ${recorder} and k.digest = ${digest})
            or not exists (select from recorder.processes p where p.recorder = c.recorder and p.digest = c.digest
              and p.seen_at > now() - make_interval(secs => ${absent.seenWithin})
              and (${absent.stoppedToo} or p.left_at is null)))
          returning 1
        ), forgotten as (
          delete from recorder.processes where seen_at < now() - ${REMEMBERED_FOR}::interval
        )
        insert into recorder.configurations as c (recorder, digest, network, generation, newest, first_seen_at)
        select ${recorder}, ${digest}, ${network}, coalesce(max(generation), 0) + 1, true, now()
        from recorder.configurations where recorder = ${recorder}
        having (select count(*) from superseded) = 1 or not coalesce(bool_or(newest), false)
        on conflict (recorder, digest) do update set generation = excluded.generation, newest = true`;
      const [known] = await sql`
        select 1 from recorder.configurations where recorder = ${recorder} and digest = ${digest}`;
      if (known || tried === TRIES) return;
    } catch (error) {
      if (!isUniqueViolation(error) || tried === TRIES) throw error;
    }
  }
}
