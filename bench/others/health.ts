import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { Closers } from '../../chaos/closers.ts';
import { startDatabase } from '../database.ts';
import { measureYear, writeYear } from '../health-year.ts';
import { averages, filesOf, fillCodes, removeFolder, sizeOf, startCollectd } from './collectd.ts';
import {
  bytes,
  type ComparisonContext,
  formatRelative,
  type Line,
  milliseconds,
  short,
} from './comparison.ts';
import { MINUTES, NODES, type ProbingUsage, probeTogether, type Tools } from './concurrent-probing.ts';
import { addUnobservedHour, FROM, NODE, TO, Truth } from './health-truth.ts';
import { measureAlternately } from './measurement.ts';
import { findProgram } from './programs.ts';
import { bytesBelow, makeBlocks, minimalSeries, Prometheus, scrapedSeries } from './prometheus.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Nodes that are probed once a minute for a year, and probes of each. */
const NODES_OF_YEAR = 10;
const PROBES = (TO - FROM) / MINUTE;
/** Days of one node with all values of a scrape; a block is not longer. */
const DAYS_OF_ALL = 31;

async function findTools({ skip }: ComparisonContext): Promise<Tools> {
  const [server, blackbox, promtool, daemon, rrdtool] = await Promise.all(
    ['prometheus', 'prometheus-blackbox-exporter', 'promtool', 'collectd', 'rrdtool'].map(findProgram),
  );
  const prometheus = server && blackbox && promtool ? { server, blackbox, promtool } : null;
  const collectd = daemon && rrdtool ? { daemon, rrdtool } : null;
  if (!prometheus) skip('Prometheus', "Debian's prometheus or prometheus-blackbox-exporter is missing");
  if (!collectd) skip('collectd', "Debian's collectd-core or rrdtool is missing");
  return { prometheus, collectd };
}

/** Nodes probed at once for minutes, then the same year of probes in each program. */
export async function compareHealth(context: ComparisonContext): Promise<Line[]> {
  const { signal, log } = context;
  const tools = await findTools(context);
  const closers = new Closers();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'chain-recorder-bench-'));
    closers.add(() => removeFolder(folder));
    const usage = await probeTogether(tools, folder, signal);
    log(`health: ${NODES} nodes were watched for ${MINUTES} minutes`);
    const database = await startDatabase();
    closers.add(() => database.close());
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    closers.add(() => sql.end({ timeout: 5 }));
    const probes = await writeYear(sql, NODES_OF_YEAR, log);
    await sql`analyze`; // autovacuum has not run yet
    const gap = await addUnobservedHour(sql);
    const truth = await Truth.read(sql);
    const prometheus =
      tools.prometheus && usage.prometheus
        ? await fillPrometheus(tools.prometheus, usage.prometheus, truth, folder, context)
        : null;
    if (prometheus) closers.add(() => prometheus.server.program.stop());
    const collectd = tools.collectd && (await fillCollectd(tools.collectd, truth, folder, context));
    const { bytesPerProbe } = await measureYear(sql, probes, 1);
    const times = await measureAlternately({
      recorder: () => uptime(sql, FROM, TO),
      ...(prometheus && { prometheus: () => prometheus.uptime('365d', TO) }),
      ...(collectd && { collectd: () => collectd.averages(FROM, TO) }),
    });
    const recorder = { bytesPerProbe, time: times.get('recorder') ?? Number.NaN };
    const aYear = (perProbe: number) => bytes(perProbe * PROBES);
    const work = `health: a probe a minute and node, a year of ${NODES_OF_YEAR} nodes`;
    const formatQueryTime = (name: string) =>
      `uptime of a node: ${formatRelative(times.get(name) ?? Number.NaN, recorder.time, milliseconds)}`;
    const window = [gap - HOUR / 2, gap + HOUR * 1.5] as const;
    const lines: Line[] = [
      {
        work,
        program: 'recorder',
        kept: `${bytes(bytesPerProbe)} a probe, checks and response times of each hour with it`,
        year: `${aYear(bytesPerProbe)} a node`,
        processor: processorOf(usage, 'recorder'),
        questions: formatQueryTime('recorder'),
        results: `year: ${formatUptime(await uptime(sql, FROM, TO))}; two hours, one of them off: ${formatUptime(await uptime(sql, ...window))}`,
      },
    ];
    if (prometheus)
      lines.push({
        work,
        program: 'Prometheus with blackbox_exporter',
        kept: `${formatRelative(prometheus.minimal, bytesPerProbe, bytes)} a probe, two series alone; ${formatRelative(prometheus.all, bytesPerProbe, bytes)} all ${prometheus.series} series of a scrape`,
        year: `${aYear(prometheus.minimal)} to ${aYear(prometheus.all)} a node`,
        processor: processorOf(usage, 'prometheus'),
        questions: formatQueryTime('prometheus'),
        results: `year: ${digits(await prometheus.uptime('365d', TO))}; the two hours: ${digits(await prometheus.uptime('2h', window[1]))}, of ${await prometheus.samples('2h', window[1])} samples where 120 were due, if they are counted`,
      });
    if (collectd) {
      const [year, near] = [await collectd.averages(FROM, TO), await collectd.averages(...window)];
      lines.push({
        work,
        program: 'collectd: curl, rrdtool',
        kept: `${formatRelative(collectd.bytes / PROBES, bytesPerProbe, bytes)} a probe of a year, in two files of a fixed size`,
        year: `${bytes(collectd.bytes)} a node, forever`,
        processor: processorOf(usage, 'collectd'),
        questions: formatQueryTime('collectd').replace('uptime of a node', 'averages of a node'),
        results: `year: ${year.length} averages of ${short((TO - FROM) / 1000 / year.length)} s, ${unknown(year)} unknown; the two hours: ${near.length} averages, ${unknown(near)} unknown; no answer is unknown, too`,
      });
    }
    return lines;
  } finally {
    await closers.close();
  }
}

interface Uptime {
  readonly up: number;
  readonly down: number;
  readonly unknown: number;
  readonly uptime: string;
  readonly lower: string;
  readonly upper: string;
}

async function uptime(sql: postgres.Sql, from: number, to: number): Promise<Uptime> {
  const [row] = await sql<Uptime[]>`
    select up_seconds::float8 as up, down_seconds::float8 as down, unknown_seconds::float8 as unknown, round(uptime, 6)::text as uptime,
      round(uptime_lower, 6)::text as lower, round(uptime_upper, 6)::text as upper
    from reporting.node_uptime(${new Date(from)}, ${new Date(to)}) where node = ${NODE}`;
  if (!row) throw new Error('the recorder returned no uptime');
  return row;
}

const formatUptime = ({ unknown: seconds, uptime: share, lower, upper }: Uptime) =>
  `${Number(share)}, ${short(seconds)} s unknown, so ${Number(lower)} to ${Number(upper)}`;
const digits = (share: number) => Number(share.toFixed(6));
const unknown = (values: readonly (number | null)[]) => values.filter((value) => value === null).length;

function processorOf({ recorder, prometheus, collectd }: ProbingUsage, name: keyof ProbingUsage): string {
  const recorderMs = recorder.processMs + recorder.server;
  if (name === 'recorder')
    return `${milliseconds(recorderMs)} a probe, of it PostgreSQL ${short(recorder.server)}`;
  if (name === 'collectd')
    return collectd === null ? '' : `${formatRelative(collectd, recorderMs, milliseconds)} a probe`;
  if (!prometheus) return '';
  const { server, blackbox } = prometheus;
  return `${formatRelative(server + blackbox, recorderMs, milliseconds)} a probe, of it blackbox_exporter ${short(blackbox)}`;
}

/** A year of the minimum of series for all nodes, month by month, and a month of all series of one; served. */
async function fillPrometheus(
  { server, promtool }: NonNullable<Tools['prometheus']>,
  { live }: NonNullable<ProbingUsage['prometheus']>,
  truth: Truth,
  folder: string,
  { signal, log }: ComparisonContext,
) {
  const year = join(folder, 'year');
  for (let from = FROM; from < TO; from += DAYS_OF_ALL * DAY) {
    const until = Math.min(from + DAYS_OF_ALL * DAY, TO);
    const nodes = truth.nodes.map((node) => ({
      series: minimalSeries(node),
      probes: () => truth.probes(node, from, until),
    }));
    await makeBlocks(promtool, year, nodes, signal);
    log(`health: Prometheus has a year up to ${new Date(until).toISOString().slice(0, 10)}`);
  }
  const all = join(folder, 'all');
  const until = FROM + DAYS_OF_ALL * DAY;
  const probes = () => truth.probes(NODE, FROM, until);
  await makeBlocks(promtool, all, [{ series: scrapedSeries(live, NODE), probes }], signal);
  const minimal = (await bytesBelow(year)) / (NODES_OF_YEAR * PROBES);
  const started = await Prometheus.start(server, year, {}, signal);
  const one = async (query: string, at: number) =>
    Number((await started.query(query, at / 1000))[0]?.value[1]);
  const success = `probe_success{instance="${NODE}"}`;
  return {
    server: started,
    minimal,
    all: (await bytesBelow(all)) / ((DAYS_OF_ALL * DAY) / MINUTE),
    series: live.length,
    uptime: (range: string, at: number) => one(`avg_over_time(${success}[${range}])`, at - 1),
    samples: (range: string, at: number) => one(`count_over_time(${success}[${range}])`, at - 1),
  };
}

/** Files of collectd for a probe a minute, and the response codes of a year in one. */
async function fillCollectd(
  { daemon, rrdtool }: NonNullable<Tools['collectd']>,
  truth: Truth,
  folder: string,
  { signal, log }: ComparisonContext,
) {
  const place = join(folder, 'collectd-year');
  const server = createServer((_, response) => response.end('{"healthy":true}')).listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const collector = await startCollectd(
      daemon,
      place,
      [{ name: NODE, url: `http://127.0.0.1:${port}/` }],
      MINUTE / 1000,
      signal,
    );
    try {
      await filesOf(place, NODE, signal);
    } finally {
      await collector.stop();
    }
  } finally {
    server.close();
  }
  const files = await filesOf(place, NODE, signal);
  const [codes = ''] = files;
  await fillCodes(rrdtool, codes, truth.probes(NODE, FROM, TO), FROM, signal);
  log('health: collectd has a year');
  return {
    bytes: await sizeOf(files),
    averages: (from: number, to: number) => averages(rrdtool, codes, from, to, signal),
  };
}
