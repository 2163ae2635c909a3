import { activeFeeds, activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { loadConfig } from '../../src/config/load.ts';
import { openDatabase } from '../../src/db/client.ts';
import { UsageError } from '../../src/lib/errors.ts';
import type { ActiveFeed } from '../../src/recording/active-feed.ts';
import { retainable } from '../../src/retention/retention-rules.ts';
import { startDatabase } from '../database.ts';
import { writeYear } from '../health-year.ts';
import { Moments } from './moments.ts';
import { SimulatedNetwork } from './network.ts';
import { type Options, readOptions } from './options.ts';
import { Recording } from './recording.ts';
import { type Measurements, report, slopesOf } from './report.ts';
import { measureTableSizes, type TableSize, walWritten } from './table-sizes.ts';

/**
 * Size of a year of a configuration: some days are recorded at full rate from a simulated network, by the recorder's
 * own plan, claims and commits, on a simulated clock; the year follows from the slope. The health ledger is written for
 * a whole year.
 */
const DAY = 86_400_000;
const stop = new AbortController();
const log = (line: string) => process.stderr.write(`${line}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

/** The feed, with at least this interval. @param every ms */
const withMinInterval = (feed: ActiveFeed, every: number): ActiveFeed => ({
  ...feed,
  every: Math.max(feed.every, every),
  datasets: feed.datasets.map((dataset) => ({ ...dataset, every: Math.max(dataset.every, every) })),
});

async function measure(options: Options): Promise<Measurements> {
  const config = loadConfig(options.file, catalogNames);
  for (const name of options.without) config.datasets[name] = { ...config.datasets[name], enabled: false };
  const feeds = activeFeeds(config)
    .filter(({ targets }) => targets.length > 0)
    .map((feed) => withMinInterval(feed, options.every));
  const probes = activeLedgers(config).flatMap(({ targets }) => targets).length;
  const startedAt = (Math.floor(Date.now() / DAY) - options.days) * DAY;
  const nodes = config.upstreams.nodes.map(({ name }) => name);
  const network = new SimulatedNetwork(nodes, options, startedAt / 1000);
  const database = await startDatabase();
  const { sql, close } = openDatabase(database.url);
  try {
    // The stored rows do not depend on it, and the days pass faster.
    await sql`alter system set fsync = off`;
    await sql`select pg_reload_conf()`;
    const recording = new Recording(database.url, sql, feeds, network, stop.signal);
    await recording.register(startedAt);
    const retention =
      options.keep === null
        ? config.retention
        : Object.fromEntries(retainable.map(({ name }) => [name, (options.keep ?? 0) * DAY]));
    const moments =
      options.keep === null
        ? null
        : new Moments(
            sql,
            feeds.flatMap(({ datasets }) => datasets).filter(({ name }) => retention[name]),
            options.keep,
          );
    const days: TableSize[][] = [];
    let wal = 0;
    for (let at = 0; at < options.days && !stop.signal.aborted; at++) {
      const started = performance.now();
      const before = await walWritten(sql);
      const day = startedAt + at * DAY;
      await recording.day(day);
      await moments?.queryAll(day, startedAt);
      await recording.afterDay(day, config.runs, retention);
      wal += (await walWritten(sql)) - before;
      days.push(await measureTableSizes(sql));
      log(`day ${at + 1} of ${options.days} took ${Math.round((performance.now() - started) / 1000)} s`);
    }
    await recording.end();
    const probeCount = probes > 0 && !stop.signal.aborted ? await writeYear(sql, probes, log) : 0;
    // A year's updates within seconds leave more dead rows than autovacuum ever would.
    await sql`vacuum full recorder.node_health, recorder.health_latency, recorder.health_probes, recorder.health_absences`;
    const ledger = (await measureTableSizes(sql)).filter(({ table }) =>
      /^(health_|node_health$)/.test(table),
    );
    const { byDataset, byStatus } = recording;
    return {
      days,
      wal,
      datasets: Object.fromEntries(byDataset),
      statuses: Object.fromEntries(byStatus),
      ledger,
      probes: probeCount,
      momentResults: moments?.results ?? null,
    };
  } finally {
    await close();
    await database.close();
  }
}

try {
  const options = readOptions(process.argv.slice(2));
  const measured = await measure(options);
  console.log(
    options.json ? JSON.stringify({ slopes: slopesOf(measured.days), ...measured }) : report(measured),
  );
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
