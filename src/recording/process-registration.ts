import type postgres from 'postgres';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { UsageError } from '../lib/errors.ts';
import { type Configuration, HEARTBEAT_TIMEOUT_SECONDS, type Registrant } from './configuration.ts';

/**
 * Time without a heartbeat of a process with the newest configuration, after which an earlier configuration
 * becomes the newest again, in seconds. Within this time, the processes may be restarting.
 */
const TAKEOVER_DELAY_SECONDS = 60;
/** Time for which rows of ended processes are kept, as a PostgreSQL interval. */
const PROCESS_RETENTION = '1 day';
const MAX_ATTEMPTS = 10;

/** The position of a process among the processes of its recorder. */
export interface ProcessPosition {
  /** True if this process has the newest configuration, which defines what is recorded. */
  readonly newest: boolean;
  /** True if this process has an older configuration, and a live worker process has the newest one. */
  readonly relieved: boolean;
  /** Sequence number of the configuration of the process. */
  readonly generation: number;
}

/**
 * Registration of an `up` process among the processes of its recorder. The newest configuration defines what
 * is recorded. A configuration that was never seen before becomes the newest one. An earlier configuration
 * becomes the newest again (a rollback) if no process with the newest configuration is alive.
 */
export class ProcessRegistration {
  readonly configuration: Configuration;
  readonly #sql: postgres.Sql;
  readonly #process: string;
  readonly #roles: readonly string[];
  #position: ProcessPosition = { newest: false, relieved: false, generation: 0 };

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
   * Registers a process of a recorder.
   * @param process unique name of the process
   * @throws UsageError if a process of the same recorder records another network
   */
  static async join(
    sql: postgres.Sql,
    configuration: Configuration,
    process: string,
    roles: readonly string[],
  ): Promise<ProcessRegistration> {
    await rejectOtherNetwork(sql, configuration);
    const registration = new ProcessRegistration(sql, configuration, process, roles);
    await takeOver(sql, configuration, { seenWithin: HEARTBEAT_TIMEOUT_SECONDS, stoppedToo: false });
    await registration.beat();
    return registration;
  }

  /** Name of the recorder. */
  get recorder(): string {
    return this.configuration.recorder;
  }

  /** Unique name of this process. */
  get process(): string {
    return this.#process;
  }

  get position(): ProcessPosition {
    return this.#position;
  }

  /** Recorder and configuration with which this process registers targets. */
  get registrant(): Registrant {
    const { recorder, digest } = this.configuration;
    return { recorder, digest };
  }

  /** Writes a heartbeat and reloads the position of the process. */
  async beat(): Promise<ProcessPosition> {
    const { recorder, digest } = this.configuration;
    const readPosition = async () => {
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
    let row = await readPosition();
    if (!row?.newest) {
      // The configuration may also be unknown because the database was restored.
      await takeOver(this.#sql, this.configuration, { seenWithin: TAKEOVER_DELAY_SECONDS, stoppedToo: true });
      row = await readPosition();
    }
    const newest = row?.newest ?? false;
    this.#position = {
      newest,
      relieved: !newest && (row?.workers ?? false),
      generation: Number(row?.generation ?? 0),
    };
    return this.#position;
  }

  /** Returns the names of the live worker processes that have the newest configuration. */
  async workers(): Promise<string[]> {
    const rows = await this.#sql<{ process: string }[]>`
      select p.process from recorder.configurations n join recorder.processes p using (recorder, digest)
      where n.recorder = ${this.recorder} and n.newest and ${livingWorker(this.#sql)} order by 1`;
    return rows.map(({ process }) => process);
  }

  /** Stores that the HTTP server of the process has reached its maximum number of connections. */
  async noteConnectionsFull(): Promise<void> {
    await this
      .#sql`update recorder.processes set connections_full_at = now() where process = ${this.#process}`;
  }

  /** Stores that the process stops. */
  async leave(): Promise<void> {
    await this.#sql`update recorder.processes set left_at = now() where process = ${this.#process}`;
  }
}

/** SQL: condition that the process `p` is alive and is a worker. */
const livingWorker = (sql: postgres.Sql) => sql`'worker' = any(p.roles) and p.left_at is null
  and p.seen_at > now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS})`;

/** Instruction for separating the recorders of two networks. */
export const OTHER_NETWORK_FIX =
  'give the recorder of the other network another name (name:) or another database (DATABASE_URL; if both recorders use ' +
  'one Redis, also another database number: redis://host:6379/1)';

async function rejectOtherNetwork(sql: postgres.Sql, { recorder, network }: Configuration): Promise<void> {
  const [other] = await sql<{ network: string; process: string }[]>`
    select c.network, p.process from recorder.processes p join recorder.configurations c using (recorder, digest)
    where p.recorder = ${recorder} and c.network <> ${network} and p.left_at is null
      and p.seen_at > now() - make_interval(secs => ${HEARTBEAT_TIMEOUT_SECONDS}) limit 1`;
  if (other)
    throw new UsageError([
      `network: the recorder "${recorder}" records ${other.network} in this database (${other.process}): ` +
        OTHER_NETWORK_FIX,
    ]);
}

/**
 * Makes a configuration the newest one if it was never seen before, or if no process with the newest
 * configuration has a recent heartbeat. If two processes start concurrently, a unique index serialises their
 * statements.
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
          delete from recorder.processes where seen_at < now() - ${PROCESS_RETENTION}::interval
        )
        insert into recorder.configurations as c (recorder, digest, network, generation, newest, first_seen_at)
        select ${recorder}, ${digest}, ${network}, coalesce(max(generation), 0) + 1, true, now()
        from recorder.configurations where recorder = ${recorder}
        having (select count(*) from superseded) = 1 or not coalesce(bool_or(newest), false)
        on conflict (recorder, digest) do update set generation = excluded.generation, newest = true`;
      const [known] = await sql`
        select 1 from recorder.configurations where recorder = ${recorder} and digest = ${digest}`;
      if (known || tried === MAX_ATTEMPTS) return;
    } catch (error) {
      if (!isUniqueViolation(error) || tried === MAX_ATTEMPTS) throw error;
    }
  }
}
