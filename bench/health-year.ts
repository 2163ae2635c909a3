import type postgres from 'postgres';
import { findBucket } from '../src/health/latency-histogram.ts';
import { type LatencyHour, storeHours } from '../src/health/latency-store.ts';
import { acquireObserver, type LedgerTransition, writeLedger } from '../src/health/ledger.ts';
import { numbers } from './chance.ts';
import { median } from './median.ts';

/** Size of a year of health history, and the time of its queries. */
export interface HealthYear {
  readonly probes: number;
  readonly bytes: number;
  readonly bytesPerProbe: number;
  /** Bytes of each table with its indexes. */
  readonly tables: Readonly<Record<string, number>>;
  readonly intervals: number;
  /** Median milliseconds: the year's uptime of all nodes, and p99 of the slowest month. */
  readonly uptime: number;
  readonly p99: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;
const FROM = Date.UTC(2025, 0, 1);
const TO = FROM + YEAR;
const CHECKS = ['C', 'P', 'X', 'bls', 'bootstrapped', 'database', 'diskspace', 'network', 'router'];
const INCIDENTS = 24;
const OUTAGES = 52;

/** End of a year, ms since 1970, at a whole minute, and the number of incidents of each node in it. */
export interface YearOptions {
  readonly until: number;
  readonly incidents: number;
}

/**
 * Writes a year of probes, one a minute and node, through the recorder's own storage: by default two incidents a month
 * and node, half of them failing checks, half without a response; a restart of the recorder a week; response times
 * around 20 ms with a tail.
 */
export async function writeYear(
  sql: postgres.Sql,
  nodes: number,
  log: (line: string) => void,
  { until, incidents }: YearOptions = { until: TO, incidents: INCIDENTS },
): Promise<number> {
  const since = until - YEAR;
  const firstHour = Math.ceil(since / HOUR) * HOUR;
  const observer = 'bench';
  await acquireObserver(sql, observer, 'bench');
  const random = numbers(1);
  const names = Array.from({ length: nodes }, (_, n) => `validator-${n + 1}`);
  for (const node of names) {
    await writeLedger(sql, observer, 'bench', {
      heartbeat: null,
      absences: [],
      probes: [],
      transitions: transitionsOf(node, random, since, incidents),
    });
  }
  const absences = Array.from({ length: OUTAGES }, () => {
    const from = since + Math.floor(random() * (YEAR - HOUR));
    return { from, to: from + 20_000 + Math.floor(random() ** 6 * HOUR), reason: 'the recorder was off' };
  });
  const probes = names.map((node) => ({
    node,
    probe: 'health',
    probes: YEAR / MINUTE,
    probedAt: until,
    suspect: null,
    latest: null,
    hour: null,
    entries: null,
  }));
  await writeLedger(sql, observer, 'bench', { heartbeat: until, absences, transitions: [], probes });
  log('the ledger of a year was written');
  let written = 0;
  for (let day = firstHour; day < until; day += DAY) {
    const hours: LatencyHour[] = [];
    names.forEach((node, n) => {
      for (let hour = day; hour < Math.min(day + DAY, until); hour += HOUR) {
        const histogram = new Map<number, number>();
        for (let probe = 0; probe < 60; probe++) {
          const bucket = findBucket(latency(random, n));
          histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
        }
        written += 60;
        hours.push({ node, probe: 'health', hour, histogram });
      }
    });
    await storeHours(sql, observer, hours, day);
    if (((day - firstHour) / DAY) % 60 === 59)
      log(`${Math.round((day - firstHour) / DAY) + 1} days of response times were written`);
  }
  return written;
}

/** Milliseconds: log-normal around a base of the node, one in 200 slow. */
function latency(random: () => number, node: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return (12 + (node % 20)) * Math.exp(0.25 * normal) * (random() < 0.005 ? 10 : 1);
}

function transitionsOf(
  node: string,
  random: () => number,
  since: number,
  incidents: number,
): LedgerTransition[] {
  const transition = (
    at: number,
    check: string,
    state: 'up' | 'down',
    error: string | null,
    reported = true,
  ): LedgerTransition => ({
    node,
    probe: 'health',
    check,
    at,
    state,
    error,
    message: state === 'down' && check !== '*' ? '{"connectedPeers":0,"sendFailRate":0.5}' : null,
    reported,
    before: Math.floor((at - since) / MINUTE),
    failingSince: null,
    ended: null,
  });
  const transitions = ['*', ...CHECKS].map((check) => transition(since, check, 'up', null));
  for (let n = 0; n < incidents; n++) {
    const from = since + Math.floor(((n + random() * 0.8) * YEAR) / incidents / MINUTE) * MINUTE + MINUTE;
    const to = from + MINUTE * Math.ceil(random() ** 3 * 120);
    if (n % 2 === 0)
      transitions.push(
        transition(from, '*', 'down', 'the call failed (ECONNREFUSED)', false),
        transition(to, '*', 'up', null),
      );
    else {
      const check = CHECKS[Math.floor(random() * CHECKS.length)] ?? 'C';
      transitions.push(transition(from, '*', 'down', `failing: ${check}`), transition(to, '*', 'up', null));
      transitions.push(
        transition(from, check, 'down', 'not connected to a minimum of 1 peer(s)'),
        transition(to, check, 'up', null),
      );
    }
  }
  return transitions;
}

/** Measures the size of the year that {@link writeYear} wrote, and queries it. */
export async function measureYear(sql: postgres.Sql, probes: number, rounds: number): Promise<HealthYear> {
  await sql`vacuum full analyze recorder.node_health, recorder.health_latency, recorder.health_probes, recorder.health_absences`;
  const sizes = await sql<{ name: string; bytes: number }[]>`
    select c.relname as name, pg_total_relation_size(c.oid)::float8 as bytes from pg_class c
    where c.relnamespace = 'recorder'::regnamespace and c.relkind = 'r' and (c.relname like 'health%' or c.relname = 'node_health')`;
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
  const [counted] = await sql<{ count: number }[]>`select count(*)::int from recorder.node_health`;
  const measure = async (work: () => PromiseLike<unknown>) => {
    await work();
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now();
      await work();
      times.push(performance.now() - startedAt);
    }
    return median(times);
  };
  const months = Array.from(
    { length: 12 },
    (_, month) => [new Date(Date.UTC(2025, month)), new Date(Date.UTC(2025, month + 1))] as const,
  );
  const p99s: number[] = [];
  for (const [from, to] of months)
    p99s.push(await measure(() => sql`select node, p99 from reporting.node_latency(${from}, ${to})`));
  return {
    probes,
    bytes,
    bytesPerProbe: bytes / probes,
    tables: Object.fromEntries(sizes.map(({ name, bytes }) => [name, bytes])),
    intervals: counted?.count ?? 0,
    uptime: await measure(() => sql`select * from reporting.node_uptime(${new Date(FROM)}, ${new Date(TO)})`),
    p99: Math.max(...p99s),
  };
}
