import type { Dataset } from '../../datasets/contract.ts';
import { retireConfirmedMembers, retireMissingRows } from './absence.ts';
import {
  batchRowsSql,
  type CommitInput,
  requestCtes,
  rowColumns,
  sameKeySql,
  type WriteHistory,
} from './batch.ts';
import { changeEventsSql, keyList } from './changes.ts';
import type { Statement } from './statement-parts.ts';

/** Columns and conditions of the versions of a row. */
interface Versions {
  /** SQL: condition that the row `o` is the current version of its key. A unique index allows only one. */
  readonly current: string;
  /**
   * True if an ended row becomes a past version: a member that returns gets a new version. False if an ended
   * row stays the current version and is marked as vanished.
   */
  readonly endedIsPast: boolean;
  /** If true, the table counts the walks that missed a row, so that later walks can confirm its absence. */
  readonly countsMissed: boolean;
  /** SQL: assignments for a version `o` that a newer version supersedes at `instant`. */
  close(instant: string): string;
  /** SQL: assignments for a version `o` that the upstream no longer returns from `instant` on. */
  retire(instant: string, reason: string): string;
}

const stateVersions: Versions = {
  current: 'o.valid_to is null',
  endedIsPast: true,
  countsMissed: true,
  close: (instant) => `valid_to = ${instant}, ended_by = 'changed'`,
  retire: (instant, reason) => `valid_to = ${instant}, ended_by = ${reason}`,
};

/**
 * Versions of points. A vanished point keeps its last value and is marked. If the point returns, the time
 * between its versions is the period of its absence. Upstreams do drop whole windows permanently, so that no
 * confirmation is required.
 */
const pointVersions: Versions = {
  current: '(o.valid_to is null or o.vanished)',
  endedIsPast: false,
  countsMissed: false,
  close: (instant) => `valid_to = coalesce(o.valid_to, ${instant}), vanished = false`,
  retire: (instant) => `valid_to = ${instant}, vanished = true`,
};

/**
 * `state`: a changed member gets a new version. A member whose absence is proven by a complete list gets
 * `valid_to`.
 */
export const writeState: WriteHistory = (statement, dataset, at) =>
  versioned(statement, dataset, at, stateVersions);

/**
 * `series`: a revised point gets a new version. A point that is missing in a completely read window is
 * marked.
 */
export const writeSeries: WriteHistory = (statement, dataset, at) =>
  versioned(statement, dataset, at, pointVersions);

function versioned<W extends CommitInput>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  versions: Versions,
) {
  const table = `recorder.${dataset.name}`;
  const names = rowColumns(dataset);
  const list = names.join(', ');
  const row = (alias: string) => `row(${names.map((name) => `${alias}.${name}`).join(', ')})`;
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const late = statement.param('boolean', (write) => write.late);
  // A version never starts before the previous one, even if the clock was set back.
  const after = (previous: string) => `greatest(${observedAt}, ${previous} + interval '1 microsecond')`;
  const same = sameKeySql(dataset, 'o', 'n');
  const differs = `(o.run_id is null or o.valid_to is not null or ${row('o')} is distinct from ${row('n')})`;
  const lastEnd = versions.endedIsPast
    ? `(select max(g.valid_to) from ${table} g where ${sameKeySql(dataset, 'g', 'n')})`
    : 'null::timestamptz';
  const retire = versions.countsMissed ? retireConfirmedMembers : retireMissingRows;
  const missing = retire(statement, dataset, at, versions);
  return {
    ctes: [
      ...requestCtes(statement, dataset, at),
      // Most members are unchanged, and their rows are filtered out here. `offset 0` makes the planner do one
      // index lookup with the whole key per row, whose cost does not depend on the number of versions and
      // other targets. Otherwise the planner scans the whole table for a few hundred rows.
      `compared_${at} as materialized (
        select n.*, o.run_id is not null as known, f.run_id as by_run, o.valid_from as since, o.valid_to as until, o.place,
          ${versions.countsMissed ? 'o.missed_walks is not null as was_missed,' : ''}
          ${differs} as differs
        from fence f, (${batchRowsSql(statement, dataset, at)}) n
        left join lateral (
          select o.*, o.ctid as place from ${table} o where ${same} and ${versions.current} offset 0) o on true
        where (${differs}${versions.countsMissed ? ' or o.missed_walks is not null' : ''})
          and not (${late} and o.run_id is not null and greatest(o.valid_from, o.valid_to) > ${observedAt}))`,
      // A late row of a member that left after the observation changes nothing either.
      `changed_${at} as materialized (
        select n.*, case when n.known then greatest(${after('since')}, until) else greatest(${observedAt}, e.last_end) end as begins,
          case when ${versions.endedIsPast ? 'e.last_end' : 'n.until'} is not null then 'b' when n.known then 'r' else 'a' end as kind
        from compared_${at} n cross join lateral (select case when not n.known then ${lastEnd} end as last_end) e
        where n.differs and not (${late} and coalesce(e.last_end > ${observedAt}, false)))`,
      `closed_${at} as (
        update ${table} o set ${versions.close(after(`o.valid_from`))}
        from changed_${at} n where n.known and o.ctid = n.place and ${versions.current} returning 1)`,
      // The count makes the update of the old version run first, because the unique index allows one current
      // version.
      `written_${at} as (
        insert into ${table} (${list}, valid_from, run_id)
        select ${list}, begins, by_run from changed_${at}
        where (select count(*) from closed_${at}) >= 0 returning 1)`,
      ...missing.ctes,
    ],
    written: `((select count(*) from written_${at}) + (select count(*) from retired_${at}))`,
    unconfirmed: missing.unconfirmed,
    shrunk: missing.shrunk,
    events: changeEventsSql(
      dataset,
      `select ${keyList(dataset, 'n')}n.begins, n.kind from changed_${at} n where (select count(*) from written_${at}) >= 0
        union all select ${keyList(dataset, 'r')}r.begins, r.kind from retired_${at} r`,
      observedAt,
    ),
  };
}
