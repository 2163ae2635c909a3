import type { Dataset, Window } from '../../datasets/contract.ts';
import { keyColumnSql } from '../../datasets/dataset.ts';
import { tableRequestColumns } from '../../datasets/target-columns.ts';
import { tableText } from '../../db/orm.ts';
import { coverage, runs, targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { MAX_GAPLESS_INTERVALS } from '../observed-coverage.ts';
import { isWholeList, listKeysJson } from '../other-target.ts';
import { targetKey } from '../target-key.ts';
import {
  type CommitFragment,
  type CommitInput,
  keyColumns,
  requestSelectSql,
  requestValues,
  sameKeySql,
} from './batch.ts';
import { keyList } from './changes.ts';
import { columnOfRows, type EncodedRow } from './rows.ts';
import type { Statement } from './statement-parts.ts';

/** Observations that must agree before a missing member counts as removed. */
export interface Confirmation {
  /** Consecutive complete observations that miss the member. */
  readonly observations: number;
  /** Minimum time between the first and the last of these observations, in ms. */
  readonly minDuration: number;
}

/**
 * Evidence about the members that are missing in a complete and consistent walk. Such a member is retired
 * once its own end has passed (`Dataset.endsAt`), or once every required confirmation exists. The version of
 * the member then ends at the first walk that missed the member. If an upstream listed a member after the end
 * of that member, the end is no evidence.
 */
export interface AbsenceEvidence {
  /** Rows that the walk read. Only their keys are used. */
  readonly returnedRows: readonly EncodedRow[];
  /** Part of the axis that the walk requested. Null: the whole list. */
  readonly window: Window | null;
  /** Required for each missing member. */
  readonly confirm: Confirmation;
  /** Required in addition if the walk misses more than half of the current members. */
  readonly confirmShrink: Confirmation;
}

/**
 * Confirmation for a list in one response. One observation is sufficient, because the list cannot change
 * during the read.
 */
export const SINGLE_PAGE_CONFIRMATION: Confirmation = { observations: 1, minDuration: 0 };
/**
 * Confirmation for a list of several pages. Two observations are required, because a member may move from an
 * unread page to a page that was already read.
 */
export const MULTI_PAGE_CONFIRMATION: Confirmation = { observations: 2, minDuration: 0 };

/** The SQL that ends a version. */
interface VersionEnd {
  /** SQL: assignments that end the version `o` at `instant`, for a reason (`ended_by`). */
  retire(instant: string, reason: string): string;
}

/**
 * CTEs that retire rows. The last one is `retired_N`, with the key of each row, the start of its version
 * (`begins`) and the kind of the change.
 */
type Retirement = Pick<CommitFragment, 'ctes' | 'unconfirmed' | 'shrunk'>;

/** Fragment parts of a history that retires rows without confirmation. */
export const NO_CONFIRMATION = { unconfirmed: 'null::int', shrunk: 'null' } as const;

/**
 * Builds the CTEs that retire the current rows of the target that a walk did not return, without
 * confirmation.
 */
export function retireMissingRows<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  { retire }: VersionEnd,
): Retirement {
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const ctes = [
    `missing_${at} as materialized (${missingRowsSql(statement, dataset, at)})`,
    `retired_${at} as (
        update recorder.${dataset.name} o set ${retire(endAfterStart(observedAt), `'gone'`)} from missing_${at} u where o.ctid = u.place
        returning ${keyList(dataset, 'o')}o.valid_from as begins, 'l' as kind)`,
  ];
  return { ctes, ...NO_CONFIRMATION };
}

/**
 * Builds the CTEs that retire current members of the target whose absence is proven ({@link
 * AbsenceEvidence}). For other missed members, the CTEs store the number of walks that missed the member and
 * the time of the first of these walks, until a walk reads the member again.
 */
export function retireConfirmedMembers<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  { retire }: VersionEnd,
): Retirement {
  const table = `recorder.${dataset.name}`;
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const recordedAt = statement.param('timestamptz', (write) => write.recordedAt);
  const scope = scopeOf(statement, dataset, at);
  const joined = `o.run_id = fence.run_id and not exists (
          select from ${table} g where ${sameKeySql(dataset, 'g', 'o')} and g.valid_to = o.valid_from)`;
  const ended = dataset.endsAt ? hasEnded(statement, dataset, dataset.endsAt) : 'false';
  const confirmed = (which: 'confirm' | 'confirmShrink') => {
    const observations = statement.param(
      'integer',
      ({ batches }) => batches[at]?.absence?.[which].observations ?? 1,
    );
    const seconds = statement.param(
      'double precision',
      ({ batches }) => (batches[at]?.absence?.[which].minDuration ?? 0) / 1000,
    );
    return `u.walks >= ${observations} and u.since <= ${observedAt} - make_interval(secs => ${seconds})`;
  };
  const proven = `(u.ended or (${confirmed('confirm')} and (not s.shrunk or ${confirmed('confirmShrink')})))`;
  const ctes = [
    // A clock that was set back must not end a member in the future.
    `missing_${at} as materialized (
        select u.place, ${ended} as ended, coalesce(o.missed_walks, 0) + 1 as walks,
          least(o.missed_since, ${observedAt}) as since
        from (${missingRowsSql(statement, dataset, at)}) u join ${table} o on o.ctid = u.place)`,
    // Members whose own end has passed do not count. The count is only needed if other members are missing.
    `shrink_${at} as materialized (
        select missing, current, coalesce(missing * 2 > current, false) as shrunk from (
          select missing, case when missing > 0 then
            (select count(*) from ${table} o, fence where ${scope} and not (${joined})) - ended end as current
          from (select count(*) filter (where not ended) as missing, count(*) filter (where ended) as ended
            from missing_${at}) sizes) counted)`,
    `missed_${at} as (
        update ${table} o set missed_walks = u.walks, missed_since = u.since
        from missing_${at} u, shrink_${at} s where o.ctid = u.place and not ${proven} returning 1)`,
    `found_${at} as (
        update ${table} o set missed_walks = null, missed_since = null from (
          select place from compared_${at} where was_missed and not differs
          union ${quarantinedButMissed(statement, dataset, at)}) n
        where o.ctid = n.place returning 1)`,
    `retired_${at} as (
        update ${table} o set ${retire(endAfterStart('u.since'), endReason(statement, dataset))},
          confirmed_at = case when u.since < ${observedAt} then ${recordedAt} end
        from missing_${at} u, shrink_${at} s where o.ctid = u.place and ${proven}
        returning ${keyList(dataset, 'o')}o.valid_from as begins, case o.ended_by when 'gone' then 'l' else 'u' end as kind)`,
  ];
  const complete = statement.param('boolean', ({ batches }) => batches[at]?.absence != null);
  return {
    ctes,
    unconfirmed: `(select case when ${complete} then (select count(*) from missed_${at})::int end)`,
    shrunk: `(select missing || ' of ' || current || ' members are missing' from shrink_${at} where shrunk and exists (select from missed_${at}))`,
  };
}

/**
 * SQL: condition that the missing member `o` is past its own end, at the time of the observation and by the
 * clock of the database. A member that the last run still listed after this end is excluded, because the
 * upstream lists members beyond their end.
 */
function hasEnded<W extends CommitInput>(statement: Statement<W>, dataset: Dataset, endsAt: string): string {
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const source = statement.param('text', () => dataset.source.name);
  const key = statement.param('text', ({ target }) => targetKey(target));
  const lastSuccess = `(select d.last_success_at from ${tableText(targetDatasets)} d
          where d.source = ${source} and d.target_key = ${key} and d.dataset = '${dataset.name}')`;
  return `(coalesce(o.${endsAt} <= least(${observedAt}, now()), false)
          and not (o.missed_walks is null and coalesce(o.${endsAt} <= ${lastSuccess}, false)))`;
}

/**
 * SQL: the reason for the end of a missing member `o`. It is `gone` if the target listed the member before. It
 * is `unwatched` if only another target listed the member, such as the pending rewards of an address that was
 * removed from the configuration. A target that did not write the row listed the member if a walk before the
 * first miss (`u.since`) read the list after the last other target was removed. The last complete walk is such
 * a walk, or coverage later than the maximum time between two observations proves one.
 */
function endReason<W extends CommitInput>(statement: Statement<W>, dataset: Dataset): string {
  const isWhole = statement.param('boolean', ({ target }) => isWholeList(dataset, target));
  const source = statement.param('text', () => dataset.source.name);
  const key = statement.param('text', ({ target }) => targetKey(target));
  const list = statement.param('text', ({ target }) => listKeysJson(dataset, target));
  const milliseconds = (instant: string) => `(extract(epoch from ${instant}) * 1000)::bigint`;
  return `case when ${isWhole} or exists (
            select from ${tableText(runs)} r where r.run_id = o.run_id and r.source = ${source} and r.target_key = ${key})
          or exists (
            select from ${tableText(targetDatasets)} d
            cross join lateral (
              select greatest(o.valid_from, (
                select max(p.left_at) from ${tableText(targetDatasets)} p join ${tableText(targets)} t using (source, target_key)
                where p.source = ${source} and p.dataset = '${dataset.name}' and p.target_key <> ${key}
                  and t.target @> ${list}::jsonb)) as since) alone
            cross join lateral (
              select alone.since + make_interval(secs => ${MAX_GAPLESS_INTERVALS} * d.every_ms / 1000.0) as since) proven
            left join ${tableText(coverage)} k on k.dataset = d.dataset and k.target_key = d.target_key
            where d.source = ${source} and d.target_key = ${key} and d.dataset = '${dataset.name}'
              and (d.last_complete_at >= alone.since and d.last_complete_at < u.since
                or k.covered && int8multirange(int8range(${milliseconds('proven.since')},
                  ${milliseconds('greatest(proven.since, u.since)')}))))
          then 'gone' else 'unwatched' end`;
}

/** SQL: an end of the version `o` that is later than its start, even if a clock was set back. */
const endAfterStart = (instant: string) => `greatest(${instant}, o.valid_from + interval '1 microsecond')`;

/**
 * SQL: the ctids of current rows that earlier walks missed and whose items are now in the quarantine. The
 * walk returned such items, so that their members are not missing. Rows that this statement supersedes are
 * excluded, because a statement can update a row only once.
 */
function quarantinedButMissed<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string {
  const keys = keyArrays(statement, dataset, at, ({ quarantinedKeys }) => quarantinedKeys);
  if (keys.length === 0) return 'select null::tid as place where false';
  const columns = keys.map(({ name, array }) => `unnest(${array}) as ${name}`);
  return `select o.place from fence, (
            select ${[...requestSelectSql(statement, dataset, at), 'u.*'].join(', ')} from (select ${columns.join(', ')}) u) n
          cross join lateral (
            select o.ctid as place, o.missed_walks from recorder.${dataset.name} o
            where ${sameKeySql(dataset, 'o', 'n')} and o.valid_to is null offset 0) o
          where o.missed_walks is not null and not exists (select from changed_${at} c where c.place = o.place)`;
}

/** SQL: condition that `o` is a current row of the target and that the walk was complete. */
function scopeOf<W extends CommitInput>(statement: Statement<W>, dataset: Dataset, at: number): string {
  const may = statement.param('boolean', ({ batches }) => batches[at]?.absence != null);
  const values = requestValues(statement, dataset, at);
  const scope = tableRequestColumns(dataset).map((name, index) => `o.${name} = ${values[index]}`);
  if (dataset.source.range) {
    const time = dataset.key.at(-1);
    const bound = (end: 'from' | 'to') =>
      statement.param('timestamptz', ({ batches }) => {
        const window = batches[at]?.absence?.window;
        return window ? new Date(window[end]).toISOString() : null;
      });
    scope.push(`o.${time} >= ${bound('from')}`, `o.${time} < ${bound('to')}`);
  }
  return [may, ...scope, `o.valid_to is null`].join(' and ');
}

/**
 * SQL: the ctids (`place`) of current rows of the target that a complete walk did not return. Stored rows and
 * returned keys are grouped by key, so that each row and key is read once. A join is not used, because
 * PostgreSQL may choose a nested loop while the table has no statistics.
 */
function missingRowsSql<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
): string {
  const keys = keyArrays(statement, dataset, at, ({ absence }) => absence?.returnedRows);
  if (keys.length === 0) return 'select null::tid as place where false';
  const names = keys.map(({ name }) => name).join(', ');
  const key = (row: string) =>
    keys.map(({ name, nullable }) => `${keyColumnSql(name, nullable, row)} as ${name}`).join(', ');
  return `select max(place) as place from (
          select ${key('o')}, o.ctid as place from recorder.${dataset.name} o, fence where ${scopeOf(statement, dataset, at)}
          union all
          select ${key('returned')}, null from unnest(${keys.map(({ array }) => array).join(', ')}) as returned(${names})) side_by_side
        group by ${names} having count(place) = count(*)`;
}

/**
 * SQL: one array per key column that comes from an item.
 * @param rowsOf returns the rows of a batch; undefined: none
 */
const keyArrays = <W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  rowsOf: (batch: W['batches'][number]) => readonly EncodedRow[] | undefined,
) =>
  keyColumns(dataset).map(({ name, nullable, type, index }) => ({
    name,
    nullable,
    array: statement.param(`${type}[]`, ({ batches }) => {
      const batch = batches[at];
      return columnOfRows((batch && rowsOf(batch)) ?? [], index);
    }),
  }));
