import type postgres from 'postgres';
import type { Dataset, Feed, Window } from '../datasets/contract.ts';
import { storableText } from '../datasets/storable-text.ts';
import { LEASE_SECONDS } from '../db/leases.ts';
import { tableText } from '../db/orm.ts';
import { arrayLiteral } from '../db/postgres-workarounds/array-types.ts';
import { coverage, gaps, quarantine, runs, targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { LeaseLostError } from '../lib/errors.ts';
import { leaseKey } from './claim-run.ts';
import type { CommitInput, WriteHistory } from './histories/batch.ts';
import { changeRecordingCtes } from './histories/changes.ts';
import { Statement } from './histories/statement-parts.ts';
import type { Progress } from './index-progress.ts';
import type { Gap } from './observed-coverage.ts';
import type { QuarantinedItem } from './quarantined-item.ts';

/**
 * Outcome of a run. `partial`: all received items are stored, but items that were not received may still
 * exist. `stopped`: the recorder itself ended the run between two commits.
 */
export type Outcome = 'done' | 'partial' | 'stopped' | 'failed' | 'unsupported';

/** The data that one statement stores. */
export interface Commit extends CommitInput {
  readonly runId: number;
  readonly targetKey: string;
  /** Range of each dataset that this commit claims as covered, on the axis of the source. Null: none. */
  readonly covered: readonly (Window | null)[];
  /**
   * Only for an index: the range for which the upstream returned complete responses, claimed or not. Null:
   * none.
   */
  readonly answered: Window | null;
  /** Start of the range that the walk has read, on the axis of the source. Null if unknown. */
  readonly shownFrom: number | null;
  /** Progress of the index. Null: the source has no index. */
  readonly indexProgress: Progress | null;
  /** Range of each dataset that is now known to be missing permanently. Null: none. */
  readonly gaps: readonly (Gap | null)[];
  /** Items that could not be decoded or stored. */
  readonly quarantined: readonly QuarantinedItem[];
  /**
   * Ids of quarantined items that became rows of this commit. The commit removes these items from the
   * quarantine.
   */
  readonly released: readonly number[];
  readonly pages: number;
  readonly items: readonly number[];
  readonly requests: number;
  readonly units: number;
  /** Requested window, on the axis of the source. Null: an observation of the current state. */
  readonly window: Window | null;
  readonly note: string | null;
  /**
   * True if the run is an observation or requests the newest window, so that its success updates the
   * freshness of the target.
   */
  readonly updatesFreshness: boolean;
  /** True if the run is a sweep, whose success does not end the failures of the polls. */
  readonly isSweep: boolean;
  /** Time at which the run was planned, ISO 8601. Null: the next poll is scheduled from the commit. */
  readonly plannedAt: string | null;
  /** Null unless this is the last commit of a run. */
  readonly end: RunEnd | null;
}

/** The end of a run. */
export interface RunEnd {
  readonly outcome: Outcome;
  readonly error: string | null;
  /** True if the upstream was queried, so that the outcome changes the state of the target. */
  readonly upstreamQueried: boolean;
  /** Reason for which each dataset is incomplete. Null: the dataset is complete. */
  readonly incomplete: readonly (string | null)[];
}

/** The result of a commit. */
export interface CommitResult {
  /** One number per dataset. */
  readonly rowsWritten: readonly number[];
  /**
   * True if members are missing and their absence is not confirmed. Such a run is `partial` instead of
   * `done`.
   */
  readonly unconfirmed: boolean;
}

/**
 * Number of rows after which the query plan of the commits of a feed is kept. By then its tables are no
 * longer empty.
 */
const MIN_ROWS_FOR_PLAN = 500;

/** SQL: prefix of messages about missing members that are not retired yet. */
const UNCONFIRMED_PREFIX = `'departures unconfirmed: '`;

/**
 * Commits one or more pages.
 * @throws LeaseLostError if another run holds the lease of the target
 */
export type CommitPages = (sql: postgres.Sql, commit: Commit) => Promise<CommitResult>;

/** Number of commits in progress of each client. */
const activeCommits = new WeakMap<postgres.Sql, number>();

/** Returns whether a commit of any run is in progress. */
export const isCommitting = (sql: postgres.Sql): boolean => (activeCommits.get(sql) ?? 0) > 0;

async function countActiveCommit<T>(sql: postgres.Sql, commit: () => Promise<T>): Promise<T> {
  activeCommits.set(sql, (activeCommits.get(sql) ?? 0) + 1);
  try {
    return await commit();
  } finally {
    activeCommits.set(sql, (activeCommits.get(sql) ?? 1) - 1);
  }
}

/**
 * Builds the one statement that stores the rows, coverage, gaps, quarantine and run of a feed. The statement
 * is fenced: the CTE `fence` locks the row of the target, and is empty if another run holds the lease. All
 * other CTEs read from `fence`.
 * @param historyOf returns the history writer of a dataset
 */
export function buildCommit(
  { source, datasets }: Feed,
  historyOf: (dataset: Dataset) => WriteHistory,
): CommitPages {
  const statement = new Statement<Commit>();
  const param = statement.param.bind(statement);
  const names = `array[${datasets.map(({ name }) => `'${name}'`).join(', ')}]`;
  const axis = source.range?.axis ?? 'time';
  const runId = param('bigint', (commit) => commit.runId);
  const outcome = param('text', ({ end }) => end?.outcome ?? null);
  const recordedAt = param('timestamptz', (commit) => commit.recordedAt);
  // A clock that is ahead must not hide that a target is late.
  const committedAt = `least(${recordedAt}, now())`;
  const observedAt = param('timestamptz', (commit) => commit.observedAt);
  const sourceName = param('text', () => source.name);
  const targetKey = param('text', (commit) => commit.targetKey);
  const fragments = datasets.map((dataset, at) => historyOf(dataset)(statement, dataset, at));
  const unconfirmed = fragments.map((fragment) => fragment.unconfirmed);
  const shrunk = fragments.map((fragment) => `${UNCONFIRMED_PREFIX} || ${fragment.shrunk}`);
  const anyUnconfirmed = `(${unconfirmed.map((count) => `coalesce(${count}, 0)`).join(' + ')})`;
  // A clock that is ahead must not mark the future as covered, because it would never be requested.
  const covered =
    source.range?.axis === 'time'
      ? `p.range::int8multirange * int8multirange(int8range(null, floor(extract(epoch from now()) * 1000)::bigint - ${source.range.settle}))`
      : 'p.range::int8multirange';
  const texts = (read: (commit: Commit) => readonly (string | null)[]) =>
    param('text[]', (commit) => arrayLiteral(read(commit)));
  const claimed = texts(({ covered }) => covered.map((window) => window && `{${rangeText(window)}}`));
  const answered = param('int8multirange', (commit) => commit.answered && `{${rangeText(commit.answered)}}`);
  const requests = param('integer', (commit) => commit.requests);
  const error = param('text', ({ end }) => storable(end?.error ?? null));
  const upstreamQueried = param('boolean', ({ end }) => end?.upstreamQueried ?? false);
  const fresh = `(${upstreamQueried} and ${outcome} in ('done', 'partial') and ${param('boolean', (commit) => commit.updatesFreshness)})`;
  const items = datasets.map((_, at) => param('bigint', (commit) => commit.items[at] ?? 0));
  // Counted once, because each count scans the rows.
  const written = fragments.map((_, at) => `(select written_${at} from counted)`);
  const counts = fragments.map((fragment, at) => `${fragment.written} as written_${at}`);
  const today = `(${recordedAt} at time zone 'UTC')::date`;
  const bad = (field: keyof QuarantinedItem) =>
    param('text[]', ({ quarantined }) => arrayLiteral(quarantined.map((one) => one[field])));
  // All other CTEs wait for `fence`, which sees the tables in their state before the statement.
  const empty = datasets.map(
    ({ name, history }) =>
      `pg_relation_size('recorder.${history === 'sample' ? 'reading_members' : name}') = 0`,
  );
  const ctes = [
    `fence as (
      update ${tableText(targets)} set
        lease_until = case when ${outcome} is null then clock_timestamp() + interval '${LEASE_SECONDS} seconds' end,
        run_id = case when ${outcome} is null then run_id end,
        poll_requests = case when ${fresh} then ${requests} else poll_requests end,
        max_requests = case when ${outcome} = 'done' then greatest(max_requests, ${requests}) else max_requests end,
        poll_from = case when ${fresh} then ${param('bigint', ({ window }) => window?.from ?? null)} else poll_from end,
        poll_to = case when ${fresh} then ${param('bigint', ({ window }) => window?.to ?? null)} else poll_to end,
        shown_from = case when ${fresh} then ${param('bigint', (commit) => commit.shownFrom)} else shown_from end${source.range?.index ? progressSet(param, fresh) : ''}
      where source = ${sourceName} and target_key = ${param('text', ({ target }) => leaseKey(source, target))} and run_id = ${runId}
      returning ${runId} as run_id, array[${empty.join(', ')}] as empty)`,
    ...fragments.flatMap(({ ctes }) => ctes),
    `counted as materialized (select ${counts.join(', ')})`,
    `coverage_added as (
      insert into ${tableText(coverage)} as c (dataset, target_key, axis, covered, answered)
      select p.dataset, ${targetKey}, '${axis}', coalesce(${covered}, '{}'), ${answered}
      from fence, unnest(${names}, ${claimed}) as p(dataset, range)
      where not isempty(${covered}) or ${answered} is not null
      on conflict (dataset, target_key) do update set covered = c.covered + excluded.covered,
        answered = coalesce(c.answered + excluded.answered, c.answered, excluded.answered)
      where not c.covered @> excluded.covered or not coalesce(c.answered, '{}') @> excluded.answered returning 1)`,
    `gap_added as (
      insert into ${tableText(gaps)} (dataset, target_key, axis, range, reason, noticed_at)
      select g.dataset, ${targetKey}, '${axis}', g.range::int8range, g.reason, ${recordedAt}
      from fence, unnest(${names}, ${texts(({ gaps }) => gaps.map((gap) => gap && rangeText(gap.window)))},
        ${texts(({ gaps }) => gaps.map((gap) => gap?.reason ?? null))}) as g(dataset, range, reason)
      where g.range is not null on conflict do nothing returning 1)`,
    // Updates the state and the counters of each dataset of the target. A heal or a redrive does not change
    // the current state.
    `states_updated as (
      update ${tableText(targetDatasets)} t set
        first_success_at = case when ${upstreamQueried} and ${outcome} in ('done', 'partial') then coalesce(t.first_success_at, ${observedAt})
          else t.first_success_at end,
        last_success_at = case when ${fresh} then ${committedAt} else t.last_success_at end,
        last_planned_at = case when ${fresh} then ${param('timestamptz', (commit) => commit.plannedAt)} else t.last_planned_at end,
        last_complete_at = case when ${fresh} and d.incomplete is null then ${committedAt} else t.last_complete_at end,
        incomplete_since = case when not ${fresh} then t.incomplete_since
          when d.incomplete is not null then coalesce(t.incomplete_since, ${committedAt}) end,
        incomplete_reason = case when ${fresh} then d.incomplete else t.incomplete_reason end,
        unconfirmed_departures = coalesce(case when ${fresh} then d.unconfirmed end, t.unconfirmed_departures),
        last_failure_at = case when ${upstreamQueried} and ${outcome} in ('failed', 'unsupported') then ${committedAt} else t.last_failure_at end,
        last_error = case when ${upstreamQueried} and ${outcome} in ('failed', 'unsupported') then ${error} else t.last_error end,
        failures = case when not ${upstreamQueried} or ${outcome} = 'stopped' then t.failures when ${outcome} = 'failed' then t.failures + 1
          when ${param('boolean', (commit) => commit.isSweep)} then t.failures else 0 end,
        unsupported_reason = case when not ${upstreamQueried} or ${outcome} = 'stopped' then t.unsupported_reason when ${outcome} = 'unsupported' then ${error} end,
        items = t.items + d.items,
        rows_written = t.rows_written + d.written,
        rows_today = case when t.rows_day = ${today} then t.rows_today else 0 end + d.written,
        rows_day = ${today}
      from fence, lateral (select u.dataset, coalesce(u.reason, u.shrunk), u.unconfirmed, u.items, u.written from unnest(${names},
        ${texts(({ end }) => end?.incomplete ?? datasets.map(() => null))}, array[${shrunk.join(', ')}]::text[],
        array[${unconfirmed.join(', ')}]::int[], array[${items.join(', ')}], array[${written.join(', ')}])
          as u(dataset, reason, shrunk, unconfirmed, items, written))
        as d(dataset, incomplete, unconfirmed, items, written)
      where t.source = ${sourceName} and t.target_key = ${targetKey} and t.dataset = d.dataset returning 1)`,
    // Each item is stored once. A repetition increases its count and replaces its stored form.
    `quarantined as (
      insert into ${tableText(quarantine)} as q (dataset, target_key, digest, run_id, quarantined_at, last_seen, times,
        observed_at, reason, item)
      select bad.dataset, ${targetKey}, bad.digest, min(fence.run_id), ${committedAt}, ${committedAt}, count(*),
        ${param('timestamptz', (commit) => commit.observedAt)}, min(bad.reason), min(bad.item)
      from fence, unnest(${bad('dataset')}, ${bad('digest')}, ${bad('reason')}, ${bad('item')}) as bad(dataset, digest, reason, item)
      group by bad.dataset, bad.digest
      on conflict (dataset, target_key, digest) do update set run_id = excluded.run_id, last_seen = excluded.last_seen,
        times = q.times + excluded.times, item = excluded.item,
        observed_at = case when q.item = excluded.item then q.observed_at else excluded.observed_at end
      returning 1)`,
    `released as (
      delete from ${tableText(quarantine)} q using fence
      where q.id = any(${param('bigint[]', ({ released }) => `{${released.join(',')}}`)}) returning 1)`,
    `run as (
      update ${tableText(runs)} r set
        pages = r.pages + ${param('integer', (commit) => commit.pages)},
        items = array[${items.map((count, at) => `r.items[${at + 1}] + ${count}`).join(', ')}],
        rows_written = array[${written.map((count, at) => `r.rows_written[${at + 1}] + ${count}`).join(', ')}],
        quarantined = r.quarantined + ${param('bigint', (commit) => commit.quarantined.length)},
        requests = ${requests},
        budget_units = ${param('bigint', (commit) => commit.units)},
        note = coalesce(${shrunk.join(', ')}, case when ${anyUnconfirmed} > 0 then ${UNCONFIRMED_PREFIX} || ${anyUnconfirmed} end, ${param('text', (commit) => storable(commit.note))}, r.note),
        status = case when ${outcome} = 'done' and ${anyUnconfirmed} > 0 then 'partial'
          else coalesce(${outcome}, r.status) end,
        finished_at = case when ${outcome} is not null then ${committedAt} end,
        error = ${error}
      from fence where r.run_id = fence.run_id returning 1)`,
    ...changeRecordingCtes({
      events: datasets.map(({ name, request }, at) => ({
        dataset: name,
        request: `array[${request.map((key) => param('text', ({ target }) => target[key] ?? '')).join(', ')}]::text[]`,
        sql: fragments[at]?.events ?? '',
      })),
      runId,
      recordedAt,
      observedAt,
      after: ['coverage_added', 'gap_added', 'states_updated', 'quarantined', 'released', 'run'],
    }),
  ];
  const text = `with ${ctes.join(',\n')}
    select (select count(*) from run)::int as committed,
      (select empty from fence) as empty,
      array[${written.join(', ')}]::text as written,
      ${anyUnconfirmed} > 0 as unconfirmed`;
  let plans = 0;
  let planned = text;
  let rows = 0;
  return async (sql, commit) => {
    const prepare = rows >= MIN_ROWS_FOR_PLAN;
    const [result] = await countActiveCommit(sql, () =>
      sql.unsafe<CommitRow[]>(planned, statement.values(commit), { prepare }),
    );
    if (result?.committed !== 1) throw new LeaseLostError(source.name, commit.targetKey);
    if (commit.batches.some((batch, at) => batch.rows.length > 0 && result.empty[at])) {
      // All indexes of an empty table have the same estimated cost. So a plan is not kept if a table was
      // empty before this commit.
      rows = 0;
      if (prepare) planned = `${text}\n-- plan ${++plans}`;
    }
    for (const batch of commit.batches) rows += batch.rows.length;
    const rowsWritten = result.written.slice(1, -1).split(',').map(Number);
    return { rowsWritten, unconfirmed: result.unconfirmed };
  };
}

/**
 * SQL: assignments by which a run stores the progress of an index and the windows whose sweep failed. The
 * progress includes items of other targets.
 */
function progressSet(param: Statement<Commit>['param'], fresh: string): string {
  const read =
    <T>(of: (progress: Progress) => T) =>
    (commit: Commit) =>
      commit.indexProgress && of(commit.indexProgress);
  const newest = param(
    'timestamptz',
    read(({ newest }) => (newest === null ? null : new Date(newest).toISOString())),
  );
  const isSweep = param('boolean', (commit) => commit.isSweep);
  const outcome = param('text', ({ end }) => end?.outcome ?? null);
  const window = param('int8multirange', (commit) => commit.window && `{${rangeText(commit.window)}}`);
  return `,
        failed_sweeps = case when ${isSweep} and ${outcome} in ('failed', 'stopped') then coalesce(failed_sweeps, '{}') + ${window}
          when ${isSweep} and ${outcome} in ('done', 'partial') then nullif(failed_sweeps - ${window}, '{}') else failed_sweeps end,
        index_name = coalesce(${param(
          'text',
          read(({ index }) => index),
        )}, index_name),
        newest_item_at = case when ${fresh} then coalesce(${newest}, newest_item_at) else greatest(newest_item_at, ${newest}) end,
        usual_interval_ms = case when ${fresh} then ${param(
          'bigint',
          read(({ usualInterval }) => usualInterval),
        )} else usual_interval_ms end,
        longest_interval_ms = case when ${fresh} then ${param(
          'bigint',
          read(({ longestInterval }) => longestInterval),
        )} else longest_interval_ms end`;
}

/** Result row of the statement. */
interface CommitRow {
  readonly committed: number;
  /** For each dataset: true if its table had no pages before this commit. */
  readonly empty: readonly boolean[];
  /** One number per dataset, as an array literal. */
  readonly written: string;
  readonly unconfirmed: boolean;
}

const storable = (text: string | null) => (text === null ? null : storableText(text));
const rangeText = ({ from, to }: Window) => `[${from},${to})`;
