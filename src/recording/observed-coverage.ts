import { and, eq, sql as expression, inArray } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Window } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, targetDatasets } from '../db/schema/bookkeeping.ts';
import type { ActiveFeed } from './active-feed.ts';
import { LOST } from './lease.ts';

/** Two polls at most this many intervals apart leave no gap between them. */
const UNBROKEN_INTERVALS = 2;

/** A part of a source's axis that is missing for good, and why. */
export interface Gap {
  readonly window: Window;
  readonly reason: string;
}

/** The range that an observation covers of one dataset, and the range that can never be observed any more. */
export interface Observed {
  readonly covered: Window;
  readonly gap: Gap | null;
}

/**
 * What an observation at `now` (ms) covers: all the time since the last one, if that is recent by the dataset's own
 * interval; otherwise only itself, and the time between is a gap.
 * @returns one answer a dataset of the feed, in its order
 */
export async function observedCoverage(
  sql: postgres.Sql,
  { source, datasets }: ActiveFeed,
  key: string,
  now: number,
): Promise<Observed[]> {
  const { failures, last_error, wanted_at } = targetDatasets;
  const rows = await ormOf(sql)
    .select({
      dataset: coverage.dataset,
      until: expression<string>`upper(${coverage.covered})`,
      refused: expression<boolean>`coalesce(${failures} > 0 and ${last_error} is distinct from ${LOST}, false)`,
      wanted_at,
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
    if (now - until <= every * UNBROKEN_INTERVALS)
      return { covered: { from: until, to: now + 1 }, gap: null };
    const reason = `not observed: ${whyNot(row.refused, row.wanted_at, until)}`;
    return { covered: instant, gap: { window: { from: until, to: now }, reason } };
  });
}

/** @param refused whether a run failed since the last success; a worker that was cut off tells nothing of the upstream */
function whyNot(refused: boolean, wantedAt: Date | null, until: number): string {
  if (wantedAt !== null && wantedAt.getTime() > until) return 'the configuration did not ask for it';
  return refused ? 'the upstream did not answer' : 'the recorder did not run';
}
