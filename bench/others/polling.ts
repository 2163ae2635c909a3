import postgres from 'postgres';
import { z } from 'zod';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { validatorList } from '../service/list-responses.ts';
import {
  bytes,
  type ComparisonContext,
  formatRelative,
  type Line,
  milliseconds,
  short,
} from './comparison.ts';
import { serverTime } from './measurement.ts';
import { polledLists } from './upsert.ts';

const ROUNDS = 10;
const MIDDLE = ROUNDS / 2;
const WARM_UP = 1;
const { targets, validators } = polledLists;

const ways = {
  recorder: 'recorder, its queue in PostgreSQL',
  loop: 'Drizzle loop, upsert',
  pgBoss: 'pg-boss 10, the same upsert',
  graphileWorker: 'graphile-worker 0.16, the same upsert',
} as const;
type Way = keyof typeof ways;

/** Cost and result of one way of polling. */
interface PollingResult {
  /** Processor time of a job, ms: of the process, and of PostgreSQL. */
  readonly processMs: number;
  readonly server: number;
  readonly jobsASecond: number;
  /**
   * Bytes of the list with its indexes after the first poll and after the last, and of all other written data, per job.
   */
  readonly list: readonly [number, number];
  readonly otherBytes: number;
  /** Whether it can return the list in the middle. */
  readonly middle: boolean;
}

/** Lists of 900 validators, polled repeatedly with 1 % changed, by the recorder's jobs and by jobs of others that upsert. */
export async function comparePolling(context: ComparisonContext): Promise<Line[]> {
  const service = await Child.start('service/main.ts', ['1'], z.object({ port: z.number() }), context.signal);
  try {
    const all = new Map<Way, PollingResult>();
    for (const way of ['recorder', 'loop', 'pgBoss', 'graphileWorker'] as const) {
      all.set(way, await measurePolling(way, `http://127.0.0.1:${service.first.port}`, context.signal));
      context.log(`polling: ${ways[way]} done`);
    }
    const recorder = all.get('recorder');
    return recorder ? [...all].map(([way, one]) => lineOf(way, one, recorder)) : [];
  } finally {
    await service.child.stop();
  }
}

function lineOf(way: Way, one: PollingResult, recorder: PollingResult): Line {
  const [first, last] = one.list;
  return {
    work: `polling: ${targets.length} lists of ${validators} validators, ${ROUNDS} times, 1 % changed`,
    program: ways[way],
    kept: `list ${bytes(first)}, then ${bytes(last)}; besides ${formatRelative(one.otherBytes, recorder.otherBytes, bytes)} a job`,
    year: '',
    processor: `${formatRelative(one.processMs + one.server, recorder.processMs + recorder.server, milliseconds)} a job, of it PostgreSQL ${short(one.server)}; ${short(one.jobsASecond)} jobs/s`,
    questions: '',
    results: one.middle
      ? 'the list as of the middle: right'
      : 'the list as of the middle: no, only the last one',
  };
}

const cost = z.object({ processor: z.number(), milliseconds: z.number() });

async function measurePolling(way: Way, serviceUrl: string, signal: AbortSignal): Promise<PollingResult> {
  const database = await startDatabase();
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  let child: Child | undefined;
  try {
    const setup = JSON.stringify({ databaseUrl: database.url, serviceUrl });
    ({ child } = await Child.start('others/polling-process.ts', [way, setup], z.literal('ready'), signal));
    const table = way === 'recorder' ? 'recorder.validators' : 'bench.validators';
    await child.request('0', cost);
    for (let warmUp = 0; warmUp < WARM_UP; warmUp += 1) await child.request('0', cost);
    const before = await weights(sql, table);
    const server = await serverTime(sql);
    let [processMs, elapsed, moment] = [0, 0, new Date()];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { processor, milliseconds: durationMs } = await child.request(String(round), cost);
      [processMs, elapsed] = [processMs + processor, elapsed + durationMs];
      if (round === MIDDLE) moment = await nowIn(sql);
    }
    const jobs = ROUNDS * targets.length;
    const serverMs = (await serverTime(sql)) - server;
    const after = await weights(sql, table);
    if ((await sumDelegations(sql, table, null)) !== truth(ROUNDS))
      throw new Error(`${way} does not have the last lists`);
    return {
      processMs: processMs / jobs,
      server: serverMs / jobs,
      jobsASecond: jobs / (elapsed / 1000),
      list: [before.list, after.list],
      otherBytes: (after.otherBytes - before.otherBytes) / jobs,
      middle: (await sumDelegations(sql, table, moment)) === truth(MIDDLE),
    };
  } finally {
    await child?.stop();
    await sql.end({ timeout: 5 });
    await database.close();
  }
}

async function nowIn(sql: postgres.Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select clock_timestamp() as now`;
  return row?.now ?? new Date(Number.NaN);
}

/** Bytes of the list and of all other tables, after the work of autovacuum. */
async function weights(sql: postgres.Sql, table: string): Promise<{ list: number; otherBytes: number }> {
  await sql`vacuum`;
  const [row] = await sql<{ list: number; otherBytes: number }[]>`
    select sum(size) filter (where oid = ${table}::regclass)::float8 as list,
      sum(size) filter (where oid <> ${table}::regclass)::float8 as "otherBytes"
    from (select c.oid, pg_total_relation_size(c.oid) as size from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')) t`;
  return row ?? { list: 0, otherBytes: 0 };
}

/** The total delegation of all validators of all lists, now or at a moment; an upsert has only the current one. */
async function sumDelegations(sql: postgres.Sql, table: string, at: Date | null): Promise<bigint> {
  const from =
    at !== null && table === 'recorder.validators'
      ? sql`reporting.node_validators_as_of(${at})`
      : table === 'recorder.validators'
        ? sql`reporting.node_validators`
        : sql`bench.validators`;
  const [row] = await sql<{ sum: string }[]>`select sum(delegator_weight)::text as sum from ${from}`;
  return BigInt(row?.sum ?? 0);
}

const listShape = z.object({ validators: z.array(z.object({ delegatorWeight: z.string() })) });

/** The same of the lists that the service returned in a round. */
function truth(round: number): bigint {
  const list = listShape.parse(JSON.parse(validatorList(round)));
  const one = list.validators.reduce((sum, { delegatorWeight }) => sum + BigInt(delegatorWeight), 0n);
  return one * BigInt(targets.length);
}
