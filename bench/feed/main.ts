import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { startDatabase } from '../database.ts';

/**
 * Reads the change feed while its writers are killed: N changes (--changes N), read twice, once while they are written.
 * Fails if one is missing, repeated, or before its cause.
 */
const WRITERS = 4;
const changeCount = Number(process.argv[process.argv.indexOf('--changes') + 1] || 1_000_000);
const AT_ONCE = 5_000;

interface Change {
  readonly cursor: string;
  readonly hash: string;
  readonly cause: string | null;
}

const database = await startDatabase();
const sql = postgres(database.url, { max: 4, onnotice: () => {} });

async function* feed(isOver: () => boolean): AsyncGenerator<readonly Change[]> {
  for (let last: string | null = null; ; ) {
    const ended = isOver();
    const rows: Change[] = await sql<Change[]>`
      select cursor, key ->> 'tx_hash' as hash, content ->> 'method_name' as cause from reporting.changes(${last}, ${AT_ONCE})`;
    if (rows.length > 0) yield rows;
    else if (ended) return;
    else await delay(20);
    last = rows.at(-1)?.cursor ?? last;
  }
}

const writers = new Map<number, ChildProcess>();
let [kills, stopped] = [0, false];
function write(writer: number): void {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', resolve(import.meta.dirname, 'writer-process.ts'), database.url, String(writer)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  writers.set(writer, child);
  child.once('exit', () => {
    if (!stopped) write(writer);
  });
}

const startedAt = Date.now();
for (let writer = 0; writer < WRITERS; writer += 1) write(writer);
const countChanges = async () =>
  Number(
    (await sql<{ n: string }[]>`select coalesce(sum(changes), 0) as n from recorder.changes`)[0]?.n ?? 0,
  );
const killLoop = (async () => {
  for (;;) {
    await delay(1_500 + Math.random() * 2_500);
    if ((await countChanges()) >= changeCount) break;
    kills += 1;
    writers.get(Math.floor(Math.random() * WRITERS))?.kill('SIGKILL');
  }
  stopped = true;
  const exits = [...writers.values()].map(
    (child) =>
      new Promise((end) =>
        child.exitCode === null && child.signalCode === null ? child.once('exit', end) : end(null),
      ),
  );
  for (const child of writers.values()) child.kill('SIGKILL');
  await Promise.all(exits);
  // Statements sent to the server before are still executed.
  for (;;) {
    const [active] = await sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`;
    if ((active?.n ?? 0) <= 1) break;
    await delay(100);
  }
  return Date.now();
})();
let isOver = false;
void killLoop.then(() => {
  isOver = true;
});

const first: string[] = [];
const place = new Map<string, number>();
for await (const rows of feed(() => isOver))
  for (const { cursor, hash, cause } of rows) {
    first.push(cursor);
    if (place.has(hash)) throw new Error(`${hash} is repeated`);
    if (cause !== null && !place.has(cause))
      throw new Error(`${hash} at ${cursor} is before its cause ${cause}`);
    place.set(hash, first.length);
  }
const written = (await killLoop) - startedAt;
const rereadAt = Date.now();
let at = 0;
for await (const rows of feed(() => true))
  for (const { cursor } of rows) {
    if (first[at] !== cursor) throw new Error(`the second reading has ${cursor} instead of ${first[at]}`);
    at += 1;
  }
const read = Date.now() - rereadAt;
if (at !== first.length) throw new Error(`the second reading has ${at} changes, the first ${first.length}`);
const [stored] = await sql<{ rows: string; lacking: string; bytes: string }[]>`
  select count(*) as rows, pg_total_relation_size('recorder.changes') as bytes from recorder.native_transactions`;
const [commits] = await sql<
  { n: string; span: string }[]
>`select count(*) as n, max(commit_number) as span from recorder.changes`;
if (Number(stored?.rows) !== first.length)
  throw new Error(`${stored?.rows} rows are stored, ${first.length} changes were read`);
process.stdout.write(
  `${first.length} changes in ${commits?.n} commits (numbers up to ${commits?.span}), ${kills} kills, written in ${(written / 1000).toFixed(1)} s,\n` +
    `read while they were written, and again in ${(read / 1000).toFixed(1)} s (${Math.round((at / read) * 1000)} a second): the same, each once, none before its cause.\n` +
    `recorder.changes: ${(Number(stored?.bytes) / first.length).toFixed(1)} bytes a change\n`,
);
await sql.end();
await database.close();
