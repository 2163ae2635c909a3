import type { Dataset } from '../datasets/contract.ts';
import { arrayLiteral } from './rows.ts';
import type { Statement } from './statement.ts';
import { incoming, itemColumns, rowColumns, sameKey, type Write, type WriteHistory } from './writing.ts';

/** How the versions of a row are told apart in the table. */
interface Versions {
  readonly from: string;
  readonly to: string;
  /** The row that stands for a key now, in a table called `o`: at most one a key, by a unique index. */
  readonly current: string;
  /** What is gone is not current any more: a member that comes back is told from a new one by its versions. */
  readonly goneIsPast: boolean;
  /** Set when a newer version takes over from `o` at `instant`. */
  close(instant: string): string;
  /** Set when the upstream no longer shows `o` from `instant` on. */
  retire(instant: string): string;
}

const stateVersions: Versions = {
  from: 'valid_from',
  to: 'valid_to',
  current: 'o.valid_to is null',
  goneIsPast: true,
  close: (instant) => `valid_to = ${instant}, ended_by = 'changed'`,
  retire: (instant) => `valid_to = ${instant}, ended_by = 'gone'`,
};

/** A point that vanished keeps its last value, marked; when it comes back, the hole between shows when it was gone. */
const pointVersions: Versions = {
  from: 'recorded_at',
  to: 'superseded_at',
  current: '(o.superseded_at is null or o.vanished)',
  goneIsPast: false,
  close: (instant) => `superseded_at = coalesce(o.superseded_at, ${instant}), vanished = false`,
  retire: (instant) => `superseded_at = ${instant}, vanished = true`,
};

/** `state`: a member that changes gets a new version, one that is gone (proven by a whole list) gets `valid_to`. */
export const writeState: WriteHistory = (statement, dataset, at) =>
  versioned(statement, dataset, at, stateVersions);

/** `series`: a point that is revised gets a new version; one that is gone from a window read to its end is marked. */
export const writeSeries: WriteHistory = (statement, dataset, at) =>
  versioned(statement, dataset, at, pointVersions);

function versioned<W extends Write>(
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
  // Versions never run backwards, even if the clock does.
  const after = (previous: string) => `greatest(${observedAt}, ${previous} + interval '1 microsecond')`;
  const same = sameKey(dataset, 'o', 'n');
  const lastEnd = versions.goneIsPast
    ? `(select max(g.${versions.to}) from ${table} g where ${sameKey(dataset, 'g', 'n')})`
    : 'null';
  return {
    ctes: [
      `compared_${at} as materialized (
        select n.*, o.run_id is not null as known, f.run_id as by_run, o.${versions.from} as since, o.${versions.to} as until,
          o.ctid as place, o.missed_looks is not null as was_missed,
          o.run_id is null or o.${versions.to} is not null or ${row('o')} is distinct from ${row('n')} as differs
        from fence f, (${incoming(statement, dataset, at)}) n
        left join ${table} o on ${same} and ${versions.current}
        where not (${late} and o.run_id is not null and greatest(o.${versions.from}, o.${versions.to}) > ${observedAt}))`,
      `changed_${at} as materialized (
        select n.*, case when known then greatest(${after('since')}, until) else greatest(${observedAt}, ${lastEnd}) end as begins
        from compared_${at} n where differs)`,
      `found_${at} as (
        update ${table} o set missed_looks = null, missed_from = null
        from compared_${at} n where n.was_missed and not n.differs and o.ctid = n.place returning 1)`,
      `closed_${at} as (
        update ${table} o set ${versions.close(after(`o.${versions.from}`))}
        from changed_${at} n where n.known and ${same} and ${versions.current} returning 1)`,
      // The count makes the closing come first: the unique index sees one current version at a time.
      `written_${at} as (
        insert into ${table} (${list}, ${versions.from}, run_id)
        select ${list}, begins, by_run from changed_${at}
        where (select count(*) from closed_${at}) >= 0 returning 1)`,
      ...missing(statement, dataset, at, versions, after(`o.${versions.from}`)),
    ],
    written: `((select count(*) from written_${at}) + (select count(*) from retired_${at}))`,
    unconfirmed: `(select 'unconfirmed: ' || standing - gone || ' of ' || standing || ' are left; a later look decides'
      from look_${at} where exists (select from missed_${at}))`,
  };
}

/**
 * What becomes of the target's current rows that a whole walk did not see; inside the window, where there is one. They
 * are retired, unless the look is doubtful: it misses more than half of what stood there before the run. In a doubtful
 * look a row is retired once so many looks in a row missed it; until then it is marked as missed: of two looks that
 * contradict each other, each keeps what it saw.
 */
function missing<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  versions: Versions,
  instant: string,
): string[] {
  const table = `recorder.${dataset.name}`;
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const looks = statement.param('integer', ({ batches }) => batches[at]?.retire?.believe.looks ?? 1);
  const since = statement.param(
    'double precision',
    ({ batches }) => (batches[at]?.retire?.believe.after ?? 0) / 1000,
  );
  const inScope = scopeOf(statement, dataset, at, versions);
  const seen = seenBy(statement, dataset, at);
  const joined = `o.run_id = fence.run_id and not exists (
          select from ${table} g where ${sameKey(dataset, 'g', 'o')} and g.${versions.to} = o.${versions.from})`;
  const believed = `(not doubtful or u.missed_looks >= ${looks} and u.missed_from <= ${observedAt} - make_interval(secs => ${since}))`;
  return [
    `unseen_${at} as materialized (
        select o.ctid as place, coalesce(o.missed_looks, 0) + 1 as missed_looks, coalesce(o.missed_from, ${observedAt}) as missed_from
        from ${table} o, fence where ${inScope} and not ${seen})`,
    // Where nothing is missing nobody has to count.
    `look_${at} as materialized (
        select gone, standing, coalesce(gone * 2 > standing, false) as doubtful from (
          select gone, case when gone > 0 then (select count(*) from ${table} o, fence where ${inScope} and not (${joined})) end as standing
          from (select count(*) as gone from unseen_${at}) missing) counted)`,
    `retired_${at} as (
        update ${table} o set ${versions.retire(instant)}
        from unseen_${at} u, look_${at} where o.ctid = u.place and ${believed} returning 1)`,
    `missed_${at} as (
        update ${table} o set missed_looks = u.missed_looks, missed_from = u.missed_from
        from unseen_${at} u, look_${at} where o.ctid = u.place and not ${believed} returning 1)`,
  ];
}

/** The rows, in a table called `o`, about which a whole walk told: the target's current ones; false after any other. */
function scopeOf<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  versions: Versions,
): string {
  const may = statement.param('boolean', ({ batches }) => batches[at]?.retire != null);
  const scope = dataset.request.map((key, index) => {
    const name = dataset.columns[index]?.name ?? key;
    return `o.${name} = ${statement.param('text', ({ target }) => target[key] ?? '')}`;
  });
  if (dataset.source.range) {
    const time = dataset.key.at(-1);
    const bound = (end: 'from' | 'to') =>
      statement.param('timestamptz', ({ batches }) => {
        const window = batches[at]?.retire?.window;
        return window ? new Date(window[end]).toISOString() : null;
      });
    scope.push(`o.${time} >= ${bound('from')}`, `o.${time} < ${bound('to')}`);
  }
  return [may, ...scope, `o.${versions.to} is null`].join(' and ');
}

/** Whether a whole walk saw a row of the table called `o`. */
function seenBy<W extends Write>(statement: Statement<W>, dataset: Dataset, at: number): string {
  const columns = keyColumns(dataset);
  if (columns.length === 0) return 'true';
  const arrays = columns.map(({ type, index }) =>
    statement.param(`${type}[]`, ({ batches }) => arrayLiteral(batches[at]?.retire?.seen ?? [], index, type)),
  );
  return `exists (select from unnest(${arrays.join(', ')})
          as seen(${columns.map(({ name }) => name).join(', ')})
          where ${seenMatches(dataset)})`;
}

/** The key's columns that come from an item, with their place in a row. */
export function keyColumns(dataset: Dataset) {
  return itemColumns(dataset).flatMap(({ name, type, nullable }, index) =>
    dataset.key.includes(name) ? [{ name, type, nullable, index }] : [],
  );
}

function seenMatches(dataset: Dataset): string {
  return keyColumns(dataset)
    .map(({ name, nullable }) =>
      nullable ? `coalesce(seen.${name}, '') = coalesce(o.${name}, '')` : `seen.${name} = o.${name}`,
    )
    .join(' and ');
}
