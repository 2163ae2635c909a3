import postgres from 'postgres';
import { activeFeeds, catalogNames } from '../../src/app/configured-feeds.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { ActiveFeed } from '../../src/recording/active-feed.ts';
import { aggregateRuns } from '../../src/recording/run-days.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { startDatabase } from '../database.ts';

/**
 * Measures the size of a year of bookkeeping: the runs of a configuration, day by day, with old ones counted by day and
 * removed. By hand: `npx tsx bench/bookkeeping/main.ts [FILE] [DAYS] [HOURS]`; intervals shorter than HOURS are raised
 * to it, which makes fewer runs and the same days.
 */
const [file = 'examples/sandbox.yaml', days = '365', hours = '0'] = process.argv.slice(2);
const DAY = 86_400_000;
const FROM = Date.UTC(2026, 0, 1);
/** One in this many polls finds a change. */
const CHANGES = 100;

/** A day of one feed's runs. Readings are new rows at every poll. */
async function addDay(sql: postgres.Sql, feed: ActiveFeed, day: number): Promise<void> {
  const { source, datasets, targets, every } = feed;
  const names = datasets.map(({ name }) => name);
  const written = datasets.map(({ history }) => (history === 'sample' ? 'true' : `n % ${CHANGES} = 0`));
  await sql.unsafe(
    `insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, pages, items,
      rows_written, requests, budget_units)
    select $1, key, $2::text[], 'poll', case when n % 200 = 1 then 'failed' else 'done' end, 'host/1', at, at, 1,
      array[${names.map(() => '25').join(', ')}], array[${written.map((wrote) => `(${wrote})::int`).join(', ')}], 1, 20
    from unnest($3::text[]) key,
      lateral (select n, to_timestamp($4::float8 / 1000) + n * make_interval(secs => $5::float8 / 1000) as at
        from generate_series(0, ceil(${DAY} / $5::float8)::int - 1) n) made`,
    [source.name, names, targets.map(targetKey), day, Math.max(every, Number(hours) * 3_600_000)],
  );
}

async function measureSizes(sql: postgres.Sql) {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*) from recorder.runs where 0 = all (rows_written))::int as idle,
      (select count(*) from recorder.runs where not 0 = all (rows_written))::int as wrote,
      (select count(*) from recorder.run_days where span = 'day')::int as days,
      (select count(*) from recorder.run_days where span = 'month')::int as months,
      pg_total_relation_size('recorder.runs')::float8 / 1e6 as runs_mb,
      pg_total_relation_size('recorder.run_days')::float8 / 1e6 as run_days_mb`;
  return row;
}

const config = loadConfig(file, catalogNames);
const feeds = activeFeeds(config).filter(({ targets, source }) => targets.length > 0 && !source.once);
const database = await startDatabase();
const sql = postgres(database.url, { max: 2, onnotice: () => {} });
try {
  console.log(
    'month  runs that wrote nothing  runs that wrote  run_days rows  run_months rows  runs MB  run_days MB',
  );
  for (let at = 0; at < Number(days); at++) {
    const day = FROM + at * DAY;
    for (const feed of feeds) await addDay(sql, feed, day);
    await aggregateRuns(sql, day + DAY, config.runs, new AbortController().signal);
    if (new Date(day + DAY).getUTCDate() !== 1 && at !== Number(days) - 1) continue;
    await sql`vacuum recorder.runs, recorder.run_days`;
    const { idle, wrote, days: kept, months, runs_mb = 0, run_days_mb = 0 } = (await measureSizes(sql)) ?? {};
    const month = new Date(day).toISOString().slice(0, 7);
    console.log([month, idle, wrote, kept, months, runs_mb.toFixed(1), run_days_mb.toFixed(1)].join('  '));
  }
} finally {
  await sql.end({ timeout: 5 });
  await database.close();
}
