import type { KeyObject } from 'node:crypto';
import type postgres from 'postgres';
import { openSealConnection } from '../../db/client.ts';
import { LOCKS, withRowLock } from '../../db/row-lock.ts';
import type { Clock } from '../../lib/clock.ts';
import { toErrorMessage } from '../../lib/errors.ts';
import { type SealedHistory, sealedHistories } from './form.ts';
import { openNow, readOpenWriters } from './leaves.ts';
import { type PendingSeal, sealDataset } from './seal-dataset.ts';
import { hashStatement, signStatement, statementText } from './statement.ts';

/** Statement timeout, in ms. */
const STATEMENT_TIMEOUT_MS = 1_800_000;

const DAY = 86_400_000;
/**
 * Delay after the end of a day until it is sealed, in ms. By then, runs that were in progress at midnight
 * have ended.
 */
const SEAL_DELAY_MS = 3_600_000;

/** The input of sealing. */
export interface SealOptions {
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** The private Ed25519 key; undefined: seals are not signed. */
  readonly key: KeyObject | undefined;
  /** Stops the work between two statements. The next call continues the same seal. */
  readonly signal: AbortSignal;
  /** The tables to seal. Default: the tables of all datasets. */
  readonly histories?: readonly SealedHistory[];
}

/** A finished seal. */
export interface FinishedSeal {
  readonly seal: number;
  readonly until: Date;
  readonly head: string;
  readonly statement: string;
  /** The signature; null if no key is configured. */
  readonly signature: Buffer | null;
  readonly public_key: string | null;
  readonly rows: number;
  readonly ends: number;
  /** The number of rows and ends that were recorded after their day had been sealed. */
  readonly late: number;
}

/**
 * Returns the last midnight (UTC) up to which days can be sealed, in ms since 1970.
 * @param now ms since 1970
 */
export const sealableUntil = (now: number): number => Math.floor((now - SEAL_DELAY_MS) / DAY) * DAY;

/**
 * Seals the days that have ended and are not sealed yet. One seal covers all these days.
 * @param sql connection for the check whether there is something to seal
 * @returns null if there is nothing to seal, another process is sealing, or the work was stopped
 */
export async function sealDays(sql: postgres.Sql, sealing: SealOptions): Promise<FinishedSeal | null> {
  const until = sealableUntil(sealing.clock());
  const [newest] = await sql<{ until: Date | null }[]>`
    select max(until) as until from recorder.seals where made_at is not null`;
  if ((newest?.until?.getTime() ?? Number.NEGATIVE_INFINITY) >= until) return null;
  const sealed = await sealUntil(sealing, until);
  return sealed === 'busy' ? null : sealed;
}

/**
 * Seals the rows that were recorded before an instant. A seal that was started and not finished is finished
 * first, with its own end.
 * @param until in ms since 1970
 * @returns the last seal that was made; null if everything before `until` was already sealed, or the work was
 * stopped before a seal was finished; `busy` if another process is sealing
 */
export async function sealUntil(sealing: SealOptions, until: number): Promise<FinishedSeal | null | 'busy'> {
  let sealed: FinishedSeal | null = null;
  const done = await withRowLock(sealing.databaseUrl, LOCKS.seal, async () => {
    const sql = openSealConnection(sealing.databaseUrl, STATEMENT_TIMEOUT_MS);
    try {
      const to = Math.min(until, await timeOf(sql));
      for (;;) {
        const pending = await beginSeal(sql, to, sealing.clock());
        if (!pending) break;
        const ended = await endSeal(sql, pending, sealing).catch(async (error: unknown) => {
          await sql`update recorder.seals set error = ${toErrorMessage(error)} where seal = ${pending.seal} and made_at is null`.catch(
            () => {},
          );
          throw error;
        });
        if (!ended) break;
        sealed = ended;
      }
      return true;
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
  return done === null ? 'busy' : sealed;
}

/**
 * Returns the time of the database, in ms since 1970. This time limits a seal, so that a clock that is ahead
 * never seals the future.
 */
async function timeOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ now: number }[]>`select floor(extract(epoch from now()) * 1000)::float8 as now`;
  return row?.now ?? Number.NEGATIVE_INFINITY;
}

/**
 * Returns the unfinished seal, or starts a new seal.
 * @returns null if everything before `until` is sealed
 */
async function beginSeal(sql: postgres.Sql, until: number, now: number): Promise<PendingSeal | null> {
  const at = new Date(until).toISOString();
  const [row] = await sql.unsafe<{ seal: number; until: string; open: unknown }[]>(
    `with pending as (
      select seal, until::text, open from recorder.seals where made_at is null
    ), newest as (
      select coalesce(max(seal), 0) as seal, coalesce(max(until), '-infinity') as until from recorder.seals
    ), begun as (
      insert into recorder.seals (seal, until, began_at, open)
      select n.seal + 1, u.until, $2::text::timestamptz, ${openNow('u.until')}
      from newest n, (select $1::text::timestamptz as until) u
      where u.until > n.until and not exists (select from pending)
      returning seal, until::text, open
    )
    select * from pending union all select * from begun`,
    [at, new Date(now).toISOString()],
  );
  return row ? { seal: row.seal, until: row.until, open: readOpenWriters(row.open) } : null;
}

async function endSeal(
  sql: postgres.Sql,
  pending: PendingSeal,
  { clock, key, signal, histories = sealedHistories }: SealOptions,
): Promise<FinishedSeal | null> {
  const [before] = await sql<{ until: string; open: unknown; head: string }[]>`
    select until::text, open, head from recorder.seals where seal = ${pending.seal - 1}`;
  const last = before ? { until: before.until, open: readOpenWriters(before.open) } : null;
  const sealed = await sql<{ dataset: string }[]>`
    select dataset from recorder.seal_datasets where seal = ${pending.seal}`;
  const done = new Set(sealed.map(({ dataset }) => dataset));
  for (const history of histories) {
    if (signal.aborted) return null;
    if (done.has(history.dataset)) continue;
    if (!(await sealDataset(sql, history, pending, last, signal))) return null;
  }
  const heads = await sql<{ dataset: string; head: string }[]>`
    select distinct on (dataset) dataset, head from recorder.seal_datasets order by dataset, seal desc`;
  const madeAt = new Date(clock());
  const statement = statementText({
    seal: pending.seal,
    until: new Date(pending.until),
    madeAt,
    before: before?.head ?? null,
    heads: [...heads],
  });
  const head = hashStatement(statement);
  const signature = key ? signStatement(statement, key) : null;
  await sql`
    update recorder.seals set made_at = ${madeAt.toISOString()}, statement = ${statement}, head = ${head},
      signature = ${signature?.signature ?? null}, public_key = ${signature?.publicKey ?? null}, error = null
    where seal = ${pending.seal}`;
  return readNewest(sql);
}

/** Returns the newest finished seal. Returns null if nothing is sealed yet. */
export async function newestSeal(databaseUrl: string): Promise<FinishedSeal | null> {
  const sql = openSealConnection(databaseUrl, STATEMENT_TIMEOUT_MS);
  try {
    return await readNewest(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function readNewest(sql: postgres.Sql): Promise<FinishedSeal | null> {
  const [newest] = await sql<FinishedSeal[]>`
    select s.seal, s.until, s.head, s.statement, s.signature, s.public_key, d.* from recorder.seals s
    cross join lateral (
      select coalesce(sum(rows), 0)::float8 as rows, coalesce(sum(ends), 0)::float8 as ends, coalesce(sum(late), 0)::float8 as late
      from recorder.seal_datasets d where d.seal = s.seal) d
    where s.made_at is not null order by s.seal desc limit 1`;
  return newest ?? null;
}
