import type postgres from 'postgres';
import { registerTargets } from '../../src/recording/register.ts';
import { storeContradictions } from '../../src/recording/store-contradictions.ts';
import { measureSettling } from '../../src/reporting/checks/compare.ts';
import { writeYear } from '../health-year.ts';
import { configuredFeeds, nodes } from './configuration.ts';
import { fillBookkeeping } from './fill-bookkeeping.ts';
import { fillLists, packReadings } from './fill-lists.ts';
import { fillMetrics } from './fill-metrics.ts';

/** Sizes of a filled record. */
export interface RecordSizes {
  readonly points: number;
  readonly revised: number;
  readonly rows: number;
}

/** Registers the configured targets: an empty record is one without recorded rows. */
export async function register(sql: postgres.Sql): Promise<void> {
  for (const feed of configuredFeeds) await registerTargets(sql, feed, Date.now());
}

/** Fills a record as if it had been kept for a year: points, lists, a year of health, and the bookkeeping. */
export async function fill(
  { sql, url }: { readonly sql: postgres.Sql; readonly url: string },
  points: number,
  log: (line: string) => void,
): Promise<RecordSizes> {
  const { now, revised } = await fillMetrics(sql, points);
  log(`${now} points were written, ${revised} of them revised`);
  const lists = await fillLists(sql);
  log(`${lists} rows of the other datasets were written`);
  log(`${await packReadings(url)} readings were packed`);
  await storeContradictions(sql, Date.now(), new AbortController().signal);
  await fillHealth(sql, log);
  await fillBookkeeping(sql);
  await sql`vacuum analyze`;
  await measureSettling(sql, Date.now()); // as the hourly comparison of the sources does
  return { points: now, revised, rows: now + revised + lists };
}

/** A year of ten nodes up to now. Readiness and liveness equal the state of the health probe. */
async function fillHealth(sql: postgres.Sql, log: (line: string) => void): Promise<void> {
  await writeYear(sql, nodes.length, log, {
    until: Math.floor(Date.now() / 60_000) * 60_000,
    incidents: 100,
  });
  await sql`
    insert into recorder.node_health (observer, node, probe, check_name, state, error, started_at, ended_at, reported, probes_before, probes)
    select observer, node, probe, check_name, state, error, started_at, ended_at, reported, probes_before, probes
    from (select h.observer, h.node, p.probe, h.check_name, h.state, h.error, h.started_at, h.ended_at, h.reported, h.probes_before, h.probes
      from recorder.node_health h, (values ('readiness'), ('liveness')) as p(probe)
      where h.probe = 'health' and h.check_name = '*') copied`;
  await sql`
    insert into recorder.health_probes (observer, node, probe, probes, probed_at)
    select h.observer, h.node, p.probe, h.probes, h.probed_at
    from recorder.health_probes h, (values ('readiness'), ('liveness')) as p(probe) where h.probe = 'health'`;
  // An observer is still active.
  await sql`update recorder.health_observers set lease_until = now() + interval '1 day'`;
}
