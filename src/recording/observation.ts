import type postgres from 'postgres';
import type { Window } from '../datasets/contract.ts';
import type { ActiveFeed } from './feed.ts';

/** Two polls may be this many intervals apart and still count as watching without a break. */
const UNBROKEN_INTERVALS = 2;

/**
 * What an observation at `now` (ms) covers: all the time since the last one if that was not long ago; otherwise only
 * itself, and what lies between can never be observed again: a gap.
 */
export async function observationCoverage(
  sql: postgres.Sql,
  { source, datasets, every }: ActiveFeed,
  key: string,
  now: number,
): Promise<{ covered: Window; gap: { window: Window; reason: string } | null }> {
  const [row] = await sql<{ until: string | null; failures: number }[]>`
    select upper(c.covered) as until, t.failures from recorder.coverage c
    join recorder.targets t on t.source = ${source.name} and t.target_key = c.target_key
    where c.dataset = ${datasets[0]?.name ?? source.name} and c.target_key = ${key}`;
  const until = row?.until == null ? null : Number(row.until);
  const instant = { from: now, to: now + 1 };
  if (until === null || until > now) return { covered: instant, gap: null };
  if (now - until <= every * UNBROKEN_INTERVALS) return { covered: { from: until, to: now + 1 }, gap: null };
  const why = row?.failures ? 'the upstream did not answer' : 'the recorder did not run';
  return { covered: instant, gap: { window: { from: until, to: now }, reason: `not observed: ${why}` } };
}
