import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type postgres from 'postgres';
import { openSealing } from '../db/client.ts';
import { encodingProblem } from '../db/encoding.ts';
import { libpqVariables } from '../db/libpq.ts';
import { knownMigrations } from '../db/migrate.ts';
import { makeReader } from '../db/reader-role.ts';
import { clearMark, madeIn, readMark, setMark } from '../db/restoring.ts';
import { LOCKS, withRowLock } from '../db/row-lock.ts';
import { withSnapshot } from '../db/snapshot.ts';
import { UsageError } from '../errors.ts';
import { type Verified, verify } from '../seals/verify.ts';
import { migrate } from '../views/migrate.ts';
import { differences, readContents } from './contents.ts';
import { type BackupManifest, checkDump, DUMP } from './manifest.ts';
import { installedPrograms, lowestOf, namesOf, type Program, runProgram } from './programs.ts';

/** What {@link restoreBackup} takes. */
export interface Restoring {
  readonly databaseUrl: string;
  /** The backup's folder, and its manifest. */
  readonly from: string;
  readonly manifest: BackupManifest;
  readonly signal: AbortSignal;
  /** Told what begins: a sentence. */
  begins?(step: string): void;
}

/** A record that was restored. */
export interface Restored {
  /** What the migrations of this version said. */
  readonly told: readonly string[];
  /** The record, held against its seals. */
  readonly verified: Verified;
}

/** The longest that a statement may take, ms. It is a day, because a person waits for it and can stop it. */
const LONGEST = 86_400_000;
const SESSION = 'chain-recorder restore';
/** From here on pg_restore sets what older servers do not know. */
const SETS_TRANSACTION_TIMEOUT = 17;

/**
 * Restores a backup into an empty database. Until all of it is there and was found equal, the database carries a mark, with
 * which no other command works in it; run again after it was cut off, it goes on.
 * @returns null when another process restores into this database
 * @throws UsageError when it cannot be restored there; Error when what was restored is not what was backed up
 */
export async function restoreBackup(restoring: Restoring): Promise<Restored | null> {
  return withRowLock(restoring.databaseUrl, LOCKS.restore, async () => {
    const sql = openSealing(restoring.databaseUrl, LONGEST);
    try {
      return await restoreAlone(sql, restoring);
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
}

async function restoreAlone(sql: postgres.Sql, restoring: Restoring): Promise<Restored | null> {
  const { databaseUrl, from, manifest, signal, begins = () => {} } = restoring;
  const backup = manifest.dump.sha256;
  // The pg_restore of a process that was killed may still be at work.
  const [under] = await sql`
    select from pg_stat_activity where datname = current_database() and application_name = ${SESSION}`;
  if (under) return null;

  const mark = await readMark(sql);
  const made = await madeIn(sql);
  if (mark === null && made.length > 0) throw new UsageError([notEmpty(made)]);
  if (mark && mark.backup !== backup && made.length > 0)
    throw new UsageError([
      'DATABASE_URL: holds what a restore of another backup left: name an empty database',
    ]);
  if (made.length === 0) {
    const program = await fitting(sql, manifest);
    begins('reading the backup');
    await checkDump(from, manifest, signal);
    await setMark(sql, { backup, stage: 'loading' });
    begins('restoring');
    await load(program, restoring);
  }
  if (mark?.stage !== 'finishing' || made.length === 0) {
    await setMark(sql, { backup, stage: 'checking' });
    begins('comparing with the backup');
    const now = await withSnapshot(databaseUrl, signal, readContents);
    const wrong = differences(manifest.contents, now);
    if (wrong.length > 0)
      throw new Error(`what was restored is not what was backed up, and cannot be used: ${wrong.join('; ')}`);
    await setMark(sql, { backup, stage: 'finishing' });
  }
  // Without it the planner takes every table for empty.
  await sql.unsafe('analyze');
  const told = await migrate(databaseUrl, { restoring: true });
  begins('verifying the seals');
  const verified = await verify({ databaseUrl, signal });
  signal.throwIfAborted();
  await clearMark(sql);
  return { told, verified };
}

/** The program for this backup and this server. @throws UsageError with everything that is in the way */
async function fitting(sql: postgres.Sql, manifest: BackupManifest): Promise<Program> {
  const [row] = await sql<{ server: number; missing: string[] }[]>`
    select current_setting('server_version_num')::int / 10000 as server,
      array(select name from jsonb_array_elements_text(${sql.json(manifest.roles)}) as name
        where name <> 'recorder_reader' and not exists (select from pg_roles where rolname = name)) as missing`;
  const { server = 0, missing = [] } = row ?? {};
  const encoding = await encodingProblem(sql);
  const programs = await installedPrograms('pg_restore');
  const program = lowestOf(
    programs,
    (major) =>
      major >= manifest.pg_dump && (server >= SETS_TRANSACTION_TIMEOUT || major < SETS_TRANSACTION_TIMEOUT),
  );
  const problems = [
    ...(encoding ? [`DATABASE_URL: ${encoding}`] : []),
    ...(server < manifest.server
      ? [
          `DATABASE_URL: the backup is of PostgreSQL ${manifest.server}, and the server is ${server}: restore into ${manifest.server} or newer`,
        ]
      : []),
    ...(manifest.migrations > knownMigrations()
      ? [`the backup was made by a newer chain-recorder (${manifest.recorder}): upgrade this one`]
      : []),
    ...missing.map(
      (role) =>
        `the role "${role}" has rights in the backup, and the server has no such role: create role "${role}"`,
    ),
    ...(program ? [] : [noRestore(server, manifest, programs)]),
  ];
  if (problems.length > 0 || !program) throw new UsageError(problems);
  if (manifest.roles.includes('recorder_reader')) await makeReader(sql);
  return program;
}

/** Lets pg_restore do all of it in one transaction. */
async function load(program: Program, { databaseUrl, from, signal }: Restoring): Promise<void> {
  const { PGDATABASE = '', ...connection } = await libpqVariables(databaseUrl);
  await runProgram(program, {
    args: [
      '--single-transaction',
      '--exit-on-error',
      '--no-owner',
      '--no-password',
      `--dbname=dbname='${PGDATABASE.replaceAll(/['\\]/g, '\\$&')}'`,
    ],
    connection: { ...connection, PGAPPNAME: SESSION },
    signal,
    // By a pipe: where this process is killed, pg_restore finds no end and undoes all.
    exchange: async (input, output) => {
      output.resume();
      await pipeline(createReadStream(join(from, DUMP)), input);
    },
  });
}

const notEmpty = (made: readonly string[]) =>
  `DATABASE_URL: a backup is restored into an empty database, and this one holds ${made.join(', ')}: ` +
  'make another one (createdb --template=template0 --encoding=UTF8 NAME); of the embedded database, move .recorder/postgres away';

function noRestore(server: number, { pg_dump }: BackupManifest, programs: readonly Program[]): string {
  const wanted =
    server < SETS_TRANSACTION_TIMEOUT
      ? `${pg_dump} to ${SETS_TRANSACTION_TIMEOUT - 1} (newer ones cannot restore into PostgreSQL ${server})`
      : `${pg_dump} or newer`;
  return (
    `restore: needs pg_restore ${wanted}, which is not here (found: ${namesOf(programs)}): ` +
    `install PostgreSQL's client programs, such as the package postgresql-client-${pg_dump}`
  );
}
