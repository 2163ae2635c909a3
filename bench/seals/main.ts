import { once } from 'node:events';
import { Client } from 'pg';
import { to } from 'pg-copy-streams';
import postgres from 'postgres';
import { sealUntil } from '../../src/reporting/seals/seal.ts';
import { verify } from '../../src/reporting/seals/verify.ts';
import { startDatabase } from '../database.ts';

/**
 * Cost of sealing, compared with reading the same rows in the same run, and its effect on a poller's statements. By
 * hand: `npx tsx bench/seals/main.ts [ROWS]`
 */
const rows = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 3;
const DAY = Date.UTC(2026, 0, 2);

const database = await startDatabase();
const sql = postgres(database.url, { max: 4, onnotice: () => {} });

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** The rows as a client reads them, decoded. */
async function readByCursor(): Promise<void> {
  for await (const _ of sql`select * from recorder.metric_points`.cursor(1_000));
}

/** The rows as bytes. */
async function readByCopy(): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const copying = client.query(to('copy recorder.metric_points to stdout'));
  copying.resume();
  await once(copying, 'end');
  await client.end();
}

const sealing = {
  databaseUrl: database.url,
  clock: Date.now,
  key: undefined,
  signal: new AbortController().signal,
};

async function sealAgain(): Promise<void> {
  await sql`truncate recorder.seals, recorder.seal_datasets, recorder.seal_parts`;
  await sealUntil(sealing, DAY);
}

/** The durations of a poller's statements: a row is written, ten times a second, until `until` is settled; ms. */
async function timeStatements(until: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  const ended = until.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    times.push(
      (await seconds(
        () =>
          sql`insert into recorder.chain_heights (node, chain, height, observed_at, run_id) values ('n', 'P', 1, clock_timestamp(), 1)`,
      )) * 1000,
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await ended;
  return times;
}

try {
  await sql`
    insert into recorder.metric_points_series (chain_id, metric, time_interval)
    select n::text, 'txCount', 'hour' from generate_series(0, 19) n`;
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
    select s.series_id, '2020-01-01'::timestamptz + n / 20 * interval '1 hour', 1000000 + n,
      '2026-01-01'::timestamptz + n / 500 * interval '30 seconds', 1000 + n / 500 from generate_series(1, ${rows}::int) n
    join recorder.metric_points_series s on s.chain_id = (n % 20)::text order by n`;
  await sql`
    insert into recorder.runs (run_id, source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
    values (${1_000 + rows}, 's', 't', '{metric_points}', 'poll', 'done', 'w', '2026-01-01', '2026-01-01', '{1}', '{1}')`;
  await sql`vacuum analyze recorder.metric_points`;
  const times = {
    cursor: [] as number[],
    copy: [] as number[],
    seal: [] as number[],
    unchanged: [] as number[],
    verify: [] as number[],
  };
  const poller = { alone: [] as number[], duringSeal: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    times.cursor.push(await seconds(readByCursor));
    times.copy.push(await seconds(readByCopy));
    poller.alone.push(...(await timeStatements(new Promise((resolve) => setTimeout(resolve, 5_000)))));
    let sealSeconds = 0;
    poller.duringSeal.push(
      ...(await timeStatements(
        seconds(sealAgain).then((sealed) => {
          sealSeconds = sealed;
        }),
      )),
    );
    times.seal.push(sealSeconds);
    times.unchanged.push(await seconds(() => sealUntil(sealing, DAY + 86_400_000)));
    times.verify.push(await seconds(() => verify({ databaseUrl: database.url })));
  }
  const [size] = await sql<{ bytes: number }[]>`
    select pg_total_relation_size('recorder.seal_parts')::float8 / ${rows} as bytes`;
  console.table({
    rows,
    'read by a cursor, s': median(times.cursor),
    'read by COPY, s': median(times.copy),
    'sealed, s': median(times.seal),
    'sealed / read twice': median(times.seal) / (2 * median(times.cursor)),
    'sealed / copied twice': median(times.seal) / (2 * median(times.copy)),
    'sealed when nothing is new, s': median(times.unchanged),
    'verified, s': median(times.verify),
    'bytes kept a row': size?.bytes,
    'a statement alone, ms': median(poller.alone),
    'a statement beside it, ms': median(poller.duringSeal),
  });
} finally {
  await sql.end({ timeout: 1 });
  await database.close();
}
