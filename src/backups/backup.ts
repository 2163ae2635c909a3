import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { libpqVariables } from '../db/libpq.ts';
import { type Snapshot, withSnapshot } from '../db/snapshot.ts';
import { syncFolder, writeDurably } from '../durable.ts';
import { UsageError } from '../errors.ts';
import { versionOf } from '../version.ts';
import { HashedFile } from '../warehouse/hashed-file.ts';
import { makeFolder, writingTo } from '../writing.ts';
import { LEFT_OUT, readContents } from './contents.ts';
import { type BackupManifest, DUMP, MANIFEST } from './manifest.ts';
import { installedPrograms, lowestOf, namesOf, type Program, runProgram } from './programs.ts';

/** What {@link backUp} takes. */
export interface BackingUp {
  readonly databaseUrl: string;
  /** The folder that is made. */
  readonly to: string;
  readonly signal: AbortSignal;
  /** Told how many tables were counted, of how many, and how many bytes were written. */
  progress?(counted: number, tables: number, bytes: number): void;
}

/** A folder in the making has this in its name, and six letters. */
const UNFINISHED = '.incomplete-';
/** What was not written to for so long is of a backup that was killed; ms. */
const ABANDONED = 24 * 3_600_000;

/**
 * Backs a database up while it is worked with: one snapshot, dumped by pg_dump and counted. The folder is made under another
 * name and renamed once the disk has all of it.
 * @throws UsageError when the folder exists or cannot be made, there is no record, or no pg_dump that is new enough; Error when the disk is full
 */
export async function backUp(backingUp: BackingUp): Promise<BackupManifest> {
  const { to } = backingUp;
  const folder = resolve(to);
  if (existsSync(folder)) throw new UsageError([`--to ${to}: exists already: a backup is a new folder`]);
  return writingTo(`--to ${to}`, () => backUpInto(folder, backingUp));
}

async function backUpInto(
  folder: string,
  { databaseUrl, signal, progress }: BackingUp,
): Promise<BackupManifest> {
  const programs = await installedPrograms('pg_dump');
  await makeFolder(dirname(folder));
  await removeAbandoned(dirname(folder));
  const unfinished = await mkdtemp(`${folder}${UNFINISHED}`);
  try {
    const manifest = await withSnapshot(databaseUrl, signal, async (snapshot) => {
      const about = await readAbout(snapshot);
      const program = lowestOf(programs, (major) => major >= about.server);
      if (!program) throw new UsageError([noDump(about.server, programs)]);
      return dumpAndCount({ databaseUrl, snapshot, about, program, unfinished, signal, progress });
    });
    await writeDurably(join(unfinished, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`);
    await syncFolder(unfinished);
    await rename(unfinished, folder);
    await syncFolder(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

interface About {
  /** Of the snapshot, for other sessions. */
  readonly snapshot: string;
  readonly taken_at: string;
  readonly server: number;
  readonly migrations: number;
  readonly roles: readonly string[];
}

async function readAbout(snapshot: Snapshot): Promise<About> {
  const [row] = await snapshot.rows(`
    select pg_export_snapshot() as snapshot, current_setting('server_version_num')::int / 10000 as server,
      to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as taken_at,
      to_regclass('drizzle.__drizzle_migrations') is not null and to_regclass('recorder.coverage') is not null as recorded,
      array(select distinct r.rolname::text from pg_shdepend d join pg_roles r on r.oid = d.refobjid
        where d.dbid = (select oid from pg_database where datname = current_database()) and d.deptype = 'a'
          and d.refclassid = 'pg_authid'::regclass order by 1) as roles`);
  if (!row?.recorded) throw new UsageError(['the database holds no record: there is nothing to back up']);
  const [counted] = await snapshot.rows(
    'select count(*)::int as migrations from drizzle.__drizzle_migrations',
  );
  return {
    snapshot: String(row.snapshot),
    taken_at: String(row.taken_at),
    server: Number(row.server),
    migrations: Number(counted?.migrations),
    roles: [row.roles].flat().map(String),
  };
}

interface Dumping extends Pick<BackingUp, 'databaseUrl' | 'signal'> {
  readonly snapshot: Snapshot;
  readonly about: About;
  readonly program: Program;
  readonly unfinished: string;
  readonly progress: BackingUp['progress'] | undefined;
}

async function dumpAndCount(dumping: Dumping): Promise<BackupManifest> {
  const { databaseUrl, snapshot, about, program, unfinished, progress = () => {} } = dumping;
  const failed = new AbortController();
  const signal = AbortSignal.any([dumping.signal, failed.signal]);
  const file = new HashedFile(join(unfinished, DUMP));
  let [done, all, bytes] = [0, 0, 0];
  const dumped = runProgram(program, {
    // To a pipe: where this process is killed, pg_dump ends too.
    args: [
      '--format=custom',
      '--no-password',
      `--snapshot=${about.snapshot}`,
      ...LEFT_OUT.map((schema) => `--exclude-schema=${schema}`),
    ],
    connection: { ...(await libpqVariables(databaseUrl)), PGAPPNAME: 'chain-recorder backup' },
    signal,
    exchange: async (input, output) => {
      input.end();
      for await (const block of output) {
        file.write(block);
        bytes += block.length;
        progress(done, all, bytes);
      }
    },
  });
  const counted = readContents(snapshot, (now, of) => {
    [done, all] = [now, of];
    progress(done, all, bytes);
  });
  try {
    // Whichever fails first ends the other; its own failure is the one to tell.
    const [, contents] = await Promise.all([dumped, counted]);
    return {
      backup: 1,
      recorder: versionOf(),
      taken_at: about.taken_at,
      server: about.server,
      pg_dump: program.major,
      migrations: about.migrations,
      roles: [...about.roles],
      dump: await file.finish(),
      contents,
    };
  } catch (error) {
    failed.abort();
    await Promise.allSettled([dumped, counted]);
    throw error;
  } finally {
    file.abandon();
  }
}

function noDump(server: number, programs: readonly Program[]): string {
  return (
    `backup: PostgreSQL ${server} is dumped by pg_dump ${server} or newer, which is not here (found: ${namesOf(programs)}): ` +
    `install PostgreSQL's client programs of version ${server}, such as the package postgresql-client-${server}`
  );
}

/** Removes what killed backups left in a folder. */
async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!/\.incomplete-[A-Za-z0-9]{6}$/.test(basename(name))) continue;
    const left = await stat(join(parent, name, DUMP)).catch(() => null);
    if (left && left.mtimeMs < Date.now() - ABANDONED)
      await rm(join(parent, name), { recursive: true, force: true });
  }
}
