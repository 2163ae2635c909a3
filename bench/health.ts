import postgres from 'postgres';
import { startDatabase } from './database.ts';
import { type HealthYear, measureYear, writeYear } from './health-year.ts';
import { measureSwarm, type Swarm } from './swarm.ts';

/** Cost of the uptime ledger and punctuality of its probes. */
export interface HealthResult {
  readonly year: HealthYear;
  readonly swarm: Swarm;
}

/** Limits. */
const MAX_BYTES_PER_PROBE = 0.1;
const MAX_QUERY_MS = 100;
const MAX_DELAY_MS = 1000;

const NODES_FOR_A_YEAR = 100;
const NODES_AT_ONCE = 1000;
const MINUTES = 2;
const ROUNDS = 7;

/** Measures in a separate database: a year of 100 nodes, and two minutes of 1,000 nodes every 15 s. */
export async function measureHealth(signal: AbortSignal, log: (line: string) => void): Promise<HealthResult> {
  const database = await startDatabase();
  const sql = postgres(database.url, { max: 4, onnotice: () => {} });
  try {
    const probes = await writeYear(sql, NODES_FOR_A_YEAR, log);
    const year = await measureYear(sql, probes, ROUNDS);
    log(`${NODES_AT_ONCE} nodes are probed for ${MINUTES} minutes`);
    return { year, swarm: await measureSwarm({ sql, url: database.url }, NODES_AT_ONCE, MINUTES, signal) };
  } finally {
    await sql.end({ timeout: 5 });
    await database.close();
  }
}

/** Returns whether all limits are met. */
export function healthHolds({ year, swarm }: HealthResult): boolean {
  return (
    year.bytesPerProbe <= MAX_BYTES_PER_PROBE &&
    Math.max(year.uptime, year.p99) <= MAX_QUERY_MS &&
    swarm.delay.p99 <= MAX_DELAY_MS &&
    swarm.missed === 0
  );
}

/** The figures for people. */
export function healthReport({ year, swarm }: HealthResult): string {
  const formatCount = (number: number) => Math.round(number).toLocaleString('en-US');
  const verdict = (holds: boolean, text: string) => `${holds ? 'holds' : 'FAILS'}: ${text}`;
  return [
    `health of ${NODES_FOR_A_YEAR} nodes for a year, ${formatCount(year.probes)} probes, ${formatCount(year.intervals)} intervals:`,
    verdict(
      year.bytesPerProbe <= MAX_BYTES_PER_PROBE,
      `${year.bytesPerProbe.toFixed(4)} bytes a probe (${formatCount(year.bytes)} with indexes); at most ${MAX_BYTES_PER_PROBE}`,
    ),
    verdict(
      year.uptime <= MAX_QUERY_MS,
      `uptime of the year in ${year.uptime.toFixed(1)} ms; at most ${MAX_QUERY_MS}`,
    ),
    verdict(
      year.p99 <= MAX_QUERY_MS,
      `p99 of any month in ${year.p99.toFixed(1)} ms; at most ${MAX_QUERY_MS}`,
    ),
    verdict(
      swarm.delay.p99 <= MAX_DELAY_MS && swarm.missed === 0,
      `${formatCount(swarm.nodes)} nodes every ${swarm.everySeconds} s: probes started ${formatCount(swarm.delay.p50)} ms late (p99 ${formatCount(swarm.delay.p99)}, most ${formatCount(swarm.delay.max)}), ${swarm.missed} of ${formatCount(swarm.probes)} missed; p99 at most ${MAX_DELAY_MS} ms`,
    ),
    `absent for ${swarm.absentSeconds.toFixed(1)} s, ${(swarm.cpu * 100).toFixed(0)} % of a core`,
  ].join('\n');
}
