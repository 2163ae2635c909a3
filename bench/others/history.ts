import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type postgres from 'postgres';
import { Closers } from '../../chaos/closers.ts';
import { activeFeeds, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { openDatabase } from '../../src/db/client.ts';
import { type Duck, openDuck } from '../../test/warehouse/lake.ts';
import { startDatabase } from '../database.ts';
import { SimulatedNetwork } from '../year/network.ts';
import { Recording } from '../year/recording.ts';
import { bytesOf, measureTableSizes } from '../year/table-sizes.ts';
import { bytes, type ComparisonContext, formatRelative, type Line, milliseconds } from './comparison.ts';
import { measureAlternately } from './measurement.ts';
import { bytesBelow } from './prometheus.ts';
import { fillParquet, fillSnapshots } from './snapshots.ts';

const DAY = 86_400_000;
const DAYS = 2;
const SIZE = { validators: 900, peers: 1, pBlocks: 1, xBlocks: 1 };
const RECORDED_DATASETS = ['validators', 'validator_uptime'];

/** The validators of one node with their uptime, every ten minutes: recorded, as snapshots in a table, and as snapshots in Parquet. */
export async function compareHistory({ signal, log }: ComparisonContext): Promise<Line[]> {
  const closers = new Closers();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'chain-recorder-bench-'));
    closers.add(() => rm(folder, { recursive: true, force: true }));
    const database = await startDatabase();
    closers.add(() => database.close());
    const { sql, close } = openDatabase(database.url);
    closers.add(close);
    const weights = await recordDays(database.url, sql, signal, log);
    const rows = await fillSnapshots(sql);
    log(`history: ${rows} readings are in a table of snapshots`);
    const duck = await openDuck();
    closers.add(() => duck.close());
    await fillParquet({ url: database.url, sql }, duck, folder, signal);
    const [table] = await sql<
      { bytes: number }[]
    >`select pg_total_relation_size('bench.snapshots')::float8 as bytes`;
    const queryMedians = await measureQueries(sql, duck, folder);
    const [first = 0, last = 0] = [weights[0], weights.at(-1)];
    const recorder = { kept: last / rows, year: last + ((last - first) / (DAYS - 1)) * (365 - DAYS) };
    const lineOf = (name: ProgramName, all: number, year: number, results: string): Line => ({
      work: `history: ${SIZE.validators} validators and their uptime every 10 minutes, ${DAYS} days`,
      program: PROGRAMS[name],
      kept: `${formatRelative(all / rows, recorder.kept, bytes)} a reading`,
      year: formatRelative(year, recorder.year, bytes),
      processor: '',
      questions: (['moment', 'member', 'days'] as const)
        .map((question) => {
          const recorderMs = queryMedians[question].get('recorder') ?? Number.NaN;
          return `${QUESTIONS[question]} ${formatRelative(queryMedians[question].get(name) ?? Number.NaN, recorderMs, milliseconds)}`;
        })
        .join('; '),
      results,
    });
    const parquet = await bytesBelow(folder);
    const same = 'the same rows to all three questions';
    return [
      lineOf('recorder', last, recorder.year, same),
      lineOf('snapshots', table?.bytes ?? 0, ((table?.bytes ?? 0) / DAYS) * 365, same),
      lineOf('parquet', parquet, (parquet / DAYS) * 365, same),
    ];
  } finally {
    await closers.close();
  }
}

const PROGRAMS = {
  recorder: 'recorder, with runs, change feed and all other bookkeeping',
  snapshots: 'table of snapshots, two indexes',
  parquet: 'DuckDB over Parquet (zstd) of the snapshots',
} as const;
type ProgramName = keyof typeof PROGRAMS;

const QUESTIONS = {
  moment: 'the list as of a moment',
  member: "a member's versions",
  days: "all members' mean uptime by day",
} as const;

/** Records some days at full rate. @returns the total bytes recorded, after each day */
async function recordDays(
  url: string,
  sql: postgres.Sql,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<number[]> {
  const config = validateConfig(
    {
      network: 'mainnet',
      observer: 'bench',
      upstreams: { nodes: [{ name: 'validator-1', url: 'http://127.0.0.1:9' }] },
      datasets: Object.fromEntries(
        catalogNames.datasets
          .filter((name) => !RECORDED_DATASETS.includes(name))
          .map((name) => [name, { enabled: false }]),
      ),
    },
    catalogNames,
    'the benchmark',
  );
  const feeds = activeFeeds(config).filter(({ targets }) => targets.length > 0);
  const startedAt = (Math.floor(Date.now() / DAY) - DAYS) * DAY;
  const recording = new Recording(
    url,
    sql,
    feeds,
    new SimulatedNetwork(['validator-1'], SIZE, startedAt / 1000),
    signal,
  );
  const total = async () => (await measureTableSizes(sql)).reduce((sum, size) => sum + bytesOf(size), 0);
  const empty = await total();
  await recording.register(startedAt);
  const weights: number[] = [];
  for (let at = 0; at < DAYS; at += 1) {
    const day = startedAt + at * DAY;
    await recording.day(day);
    signal.throwIfAborted();
    await recording.afterDay(day, config.runs, config.retention);
    weights.push((await total()) - empty);
    log(`history: ${at + 1} of ${DAYS} days were recorded`);
  }
  return weights;
}

/** Queries all three the same. @returns for each query the median of each, ms @throws Error if the results differ */
async function measureQueries(sql: postgres.Sql, duck: Duck, folder: string) {
  const [target] = await sql<{ member: string; moment: string }[]>`
    select node_id as member, (select percentile_disc(0.5) within group (order by observed_at) from bench.snapshots)::text as moment
    from reporting.node_validators_history group by 1 order by count(*) desc, 1 limit 1`;
  const [member = '', moment = ''] = [target?.member, target?.moment];
  const files = `read_parquet('${folder}/*.parquet')`;
  const list = 'node_id, weight::text, delegator_count::text, delegator_weight::text';
  const ofSnapshots = (from: string) => ({
    moment: `select ${list} from ${from} where observed_at = (select max(observed_at) from ${from} where observed_at <= '${moment}') order by 1`,
    member: `select node_id, weight::text, delegator_count::text, delegator_weight::text from (
        select *, lag(row(delegator_count, delegator_weight, accrued_delegatee_reward)) over (order by observed_at) as before
        from ${from} where node_id = '${member}') t
      where before is distinct from row(delegator_count, delegator_weight, accrued_delegatee_reward) order by observed_at`,
    days: `select node_id, (observed_at at time zone 'UTC')::date::text, round(avg(uptime), 3)::text from ${from} group by 1, 2 order by 1, 2`,
  });
  const table = ofSnapshots('bench.snapshots');
  const parquet = ofSnapshots(files);
  const recorderQueries = {
    moment: `select ${list} from reporting.node_validators_as_of('${moment}') order by 1`,
    member: `select ${list} from reporting.node_validators_history where node_id = '${member}' order by valid_from`,
    days: 'select node_id, day::text, round(uptime_average, 3)::text from reporting.validator_uptime_daily order by 1, 2',
  };
  const medians = async (question: keyof typeof QUESTIONS): Promise<Map<string, number>> => {
    const queries = {
      recorder: () => sql.unsafe(recorderQueries[question]).values(),
      snapshots: () => sql.unsafe(table[question]).values(),
      parquet: () => duck.rows(parquet[question]),
    };
    // Averages are decimals here and doubles there: only their rows are counted.
    const comparable = (rows: readonly unknown[]) =>
      question === 'days' ? rows.length : JSON.stringify(rows);
    const answers = await Promise.all(
      Object.values(queries).map(async (one) => comparable([...(await one())])),
    );
    if (new Set(answers).size !== 1)
      throw new Error(`the answers to ${question} differ: ${answers.join('; ')}`);
    return measureAlternately(queries);
  };
  return {
    moment: await medians('moment'),
    member: await medians('member'),
    days: await medians('days'),
  };
}
