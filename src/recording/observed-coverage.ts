import { and, eq, sql as expression, inArray } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Window } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, targetDatasets } from '../db/schema/bookkeeping.ts';
import type { ActiveFeed } from './active-feed.ts';
import { LEASE_EXPIRED_ERROR } from './claim-run.ts';

/** Maximum number of intervals between two polls that leave no gap. */
const MAX_GAPLESS_INTERVALS = 2;

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
 * Returns the coverage of an observation at `now` (ms since 1970). If the last observation is recent by the
 * interval of the dataset, the time since then is covered. Otherwise only the observation itself is covered,
 * and the time in between is a gap.
 * @returns one element per dataset of the feed, in its order
 */
export async function observedCoverage(
  sql: postgres.Sql,
  { source, datasets }: ActiveFeed,
  key: string,
  now: number,
): Promise<ObservationCoverage[]> {
  const { failures, last_error, requested_since } = targetDatasets;
  const rows = await ormOf(sql)
    .select({
      dataset: coverage.dataset,
      until: expression<string>`upper(${coverage.covered})`,
      error: expression<
        string | null
      >`case when ${failures} > 0 and ${last_error} is distinct from ${LEASE_EXPIRED_ERROR} then coalesce(${last_error}, 'no reason is stored') end`,
      requested_since,
    })
    .from(coverage)
    .leftJoin(
      targetDatasets,
      and(
        eq(targetDatasets.source, source.name),
        eq(targetDatasets.target_key, coverage.target_key),
        eq(targetDatasets.dataset, coverage.dataset),
      ),
    )
    .where(
      and(
        inArray(
          coverage.dataset,
          datasets.map(({ name }) => name),
        ),
        eq(coverage.target_key, key),
        expression`not isempty(${coverage.covered})`,
      ),
    );
  const known = new Map(rows.map((row) => [row.dataset, row]));
  return datasets.map(({ name, every }) => {
    const row = known.get(name);
    const instant = { from: now, to: now + 1 };
    const until = row ? Number(row.until) : null;
    if (!row || until === null || until > now) return { covered: instant, gap: null };
    if (now - until <= every * MAX_GAPLESS_INTERVALS)
      return { covered: { from: until, to: now + 1 }, gap: null };
    const reason = `not observed: ${explainGap(row.error, row.requested_since, until)}`;
    return { covered: instant, gap: { window: { from: until, to: now }, reason } };
  });
}

/**
 * @param error last error, if runs failed since the last success. Null: none. A killed worker is no evidence
 * about the upstream.
 */
function explainGap(error: string | null, requestedSince: Date | null, until: number): string {
  if (requestedSince !== null && requestedSince.getTime() > until)
    return 'the configuration did not contain it';
  return error === null ? 'the recorder did not run' : `the runs failed, the last one with: ${error}`;
}
