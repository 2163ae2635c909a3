import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { z } from 'zod';
import { announcementSchema } from '../../src/app/bundled-sandbox.ts';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { median } from '../median.ts';
import { addPast, rowsIn } from './history.ts';
import { type Round, SandboxRecorder } from './sandbox-recorder.ts';

/**
 * Measures whether an hourly round of all datasets of a sandbox costs more in a record with a long past: two databases
 * of one server, one of them with this many rows, make the same rounds alternately: `npx tsx bench/growth/main.ts
 * [--rows 10000000] [--rounds 15]`. Exits 1 if a round exceeds its limit of requests or costs.
 */
const { values } = parseArgs({
  options: { rows: { type: 'string', default: '10000000' }, rounds: { type: 'string', default: '15' } },
});
const [rowCount, rounds] = [Number(values.rows), Number(values.rounds)];
const HOUR = 3_600_000;
/** Rounds that create the record, before one of the two gets its past. */
const INITIAL_ROUNDS = 2;
/** Untimed rounds of each: the first ones compile and plan. */
const WARM_UP = 4;
/** Maximum factor of the cost of a round. */
const LIMIT = 1.1;
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const startedAt = Math.floor(Date.now() / HOUR - INITIAL_ROUNDS - WARM_UP - rounds - 24) * HOUR;
const { child: network, first: watch } = await Child.start(
  'growth/network-process.ts',
  [String(startedAt)],
  announcementSchema,
  stop.signal,
);
const closers: (() => Promise<void>)[] = [() => network.stop()];
try {
  const database = await startDatabase({ autovacuum: 'off' });
  closers.push(() => database.close());
  const large = new URL(database.url);
  large.pathname = '/large';
  let now = startedAt;
  const hour = async () => {
    ({ now } = await network.request(String(HOUR), z.object({ now: z.number() })));
  };

  const first = new SandboxRecorder(database.url, watch);
  await first.register(now);
  for (let round = 0; round < INITIAL_ROUNDS; round++) {
    const { runs, rows } = await first.round(now);
    console.log(`${runs} runs recorded ${rows} rows`);
    await hour();
  }
  await first.close();
  const small = postgres(database.url, { max: 1, onnotice: () => {} });
  await small`vacuum analyze`;
  const before = await rowsIn(small);
  await small.end();
  await copyDatabase(database.url, 'large');
  const sql = postgres(large.href, { max: 1, onnotice: () => {} });
  closers.push(() => sql.end({ timeout: 5 }));
  await addPast(sql, large.href, Math.ceil(rowCount / before) - 1, INITIAL_ROUNDS);
  const after = await rowsIn(sql);

  const [one, other] = [new SandboxRecorder(database.url, watch), new SandboxRecorder(large.href, watch)];
  closers.push(
    () => one.close(),
    () => other.close(),
  );
  const results: [Round[], Round[]] = [[], []];
  for (let round = 0; round < WARM_UP + rounds; round++) {
    stop.signal.throwIfAborted();
    await sql`checkpoint`; // no checkpoint starts in the middle of a round
    const turns = [
      async () => results[0].push(await one.round(now)),
      async () => results[1].push(await other.round(now)),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
    await hour();
  }
  printReport(before, after, results[0].slice(WARM_UP), results[1].slice(WARM_UP));
} finally {
  for (const close of closers.reverse()) await close();
}

async function copyDatabase(url: string, name: string): Promise<void> {
  const place = new URL(url);
  const template = place.pathname.slice(1);
  place.pathname = '/postgres';
  const server = postgres(place.href, { max: 1, onnotice: () => {} });
  await server`create database ${server(name)} template ${server(template)}`;
  await server.end();
}

function printReport(before: number, after: number, few: readonly Round[], many: readonly Round[]): void {
  const medianOf = (results: readonly Round[], of: (round: Round) => number) => median(results.map(of));
  const line = (what: string, of: (round: Round) => number, digits = 0) => {
    const [one, other] = [medianOf(few, of), medianOf(many, of)];
    console.log(
      `${what.padEnd(40)} ${one.toFixed(digits).padStart(8)} ${other.toFixed(digits).padStart(10)} ${(other / one).toFixed(2).padStart(8)}`,
    );
    return { one, other };
  };
  console.log(`\nan hourly round, medians of ${rounds}; rows recorded: ${before} and ${after}`);
  line('runs', ({ runs }) => runs);
  line('rows written', ({ rows }) => rows);
  const requests = line('requests', (round) => round.requests);
  // The number of pages in a commit depends on their arrival.
  const commits = line('commits', (round) => round.commits);
  const maxCommits = Math.max(...few.map((round) => round.commits));
  const statements = line('other statements', (round) => round.statements);
  line('elapsed, ms', ({ elapsed }) => elapsed);
  line('processor time of the process, ms', ({ processMs }) => processMs);
  line('processor time of PostgreSQL, ms', (round) => round.database);
  const cost = line('processor time of both, ms', (round) => round.processMs + round.database);
  const holds =
    cost.other <= LIMIT * cost.one &&
    requests.other <= requests.one &&
    commits.other <= maxCommits &&
    statements.other <= statements.one;
  console.log(
    `${holds ? 'holds' : 'FAILS'}: ${(cost.other / cost.one).toFixed(2)} times; at most ${LIMIT}, and no request or statement more; a round of the small record takes up to ${maxCommits} commits`,
  );
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
  if (!holds) process.exitCode = 1;
}
