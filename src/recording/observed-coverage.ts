import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Window } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, targetDatasets } from '../db/schema/bookkeeping.ts';
import type { ActiveFeed } from './active-feed.ts';
import { LEASE_EXPIRED_ERROR } from './claim-run.ts';

/** Maximum time between two observations that leaves no gap, in intervals of the dataset. */
export const MAX_GAPLESS_INTERVALS = 2;

/** A part of the axis of a source that is missing permanently, and the reason. */
export interface Gap {
  readonly window: Window;
  readonly reason: string;
}

/** Range of one dataset that an observation covers, and the range that can never be observed again. */
export interface ObservationCoverage {
  readonly covered: Window;
  readonly gap: Gap | null;
}

/**
 * Returns the coverage of an observation at `now` (ms since 1970). If the last observation is recent enough
 * for the interval of the dataset, and the target was configured since then, the time in between is covered.
 * Otherwise only the observation itself is covered, and the time in between is a gap. If `now` is ahead of
 * the clock of the database, the time of the database is used.
 * @returns one element per dataset of the feed, in its order
 */
export async function observedCoverage(
  sql: postgres.Sql,
  { source, datasets }: ActiveFeed,
  key: string,
  now: number,
): Promise<ObservationCoverage[]> {
  const names = datasets.map(({ name }) => name);
  const rows = await ormOf(sql).execute<{
    dataset: string;
    until: string | null;
    error: string | null;
    requested_since: Date | null;
    now: number;
  }>(expression`
    select d.dataset, upper(c.covered) as until, t.requested_since,
      floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now,
      case when t.failures > 0 and t.last_error is distinct from ${LEASE_EXPIRED_ERROR}
        then coalesce(t.last_error, 'no reason is stored') end as error
    from unnest(${expression.param(names)}::text[]) as d(dataset)
    left join ${coverage} c on c.dataset = d.dataset and c.target_key = ${key} and not isempty(c.covered)
    left join ${targetDatasets} t
      on t.source = ${source.name} and t.target_key = ${key} and t.dataset = d.dataset`);
  const known = new Map(rows.map((row) => [row.dataset, row]));
  return datasets.map(({ name, every }) => {
    const row = known.get(name);
    const at = Math.min(now, row?.now ?? now);
    const instant = { from: at, to: at + 1 };
    const until = row?.until ? Number(row.until) : null;
    if (!row || until === null || until > at) return { covered: instant, gap: null };
    const isNewlyConfigured = row.requested_since !== null && row.requested_since.getTime() > until;
    if (at - until <= every * MAX_GAPLESS_INTERVALS && !isNewlyConfigured)
      return { covered: { from: until, to: at + 1 }, gap: null };
    const reason = `not observed: ${isNewlyConfigured ? 'the configuration did not contain it' : explainGap(row.error)}`;
    return { covered: instant, gap: { window: { from: until, to: at }, reason } };
  });
}

/**
 * Returns the reason for a gap.
 * @param error last error, if runs failed since the last success. Null: none. The error of a killed worker
 * does not count, because the upstream did not cause it.
 */
const explainGap = (error: string | null) =>
  error === null ? 'the recorder did not run' : `the runs failed, the last one with: ${error}`;
