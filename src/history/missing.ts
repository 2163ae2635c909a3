import type { Dataset } from '../datasets/contract.ts';
import { keyPart } from '../datasets/dataset.ts';
import { standingRequest } from '../datasets/standing.ts';
import { keyList } from './changes.ts';
import type { Statement } from './statement.ts';
import { type Fragment, keyColumns, noKeys, requestValues, sameKey, type Write } from './writing.ts';

/** Which rows of a dataset are current, and how a row ends. */
interface Standing {
  /** The columns with the begin and the end of a version. */
  readonly from: string;
  readonly to: string;
  /** Set when the upstream no longer shows the row `o`. */
  readonly retire: string;
}

/** The CTEs by which rows are retired, the last of them `retired_N` with the key of each, and since when it counted (`begins`). */
type Missing = Pick<Fragment, 'ctes' | 'unconfirmed'>;

/** Retires the target's current rows that a complete walk did not see; only inside the window, where there is one. */
export function retiredAtOnce<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  { from, to, retire }: Standing,
): Missing {
  const ctes = [
    `unseen_${at} as materialized (${unseen(statement, dataset, at, to)})`,
    `retired_${at} as (
        update recorder.${dataset.name} o set ${retire} from unseen_${at} u where o.ctid = u.place
        returning ${keyList(dataset, 'o')}o.${from} as begins)`,
  ];
  return { ctes, unconfirmed: 'null' };
}

/**
 * Retires the target's current rows that a complete walk did not see, unless the look is doubtful: it misses more than
 * half of the rows that were current before the run. After a doubtful look, missing rows are only marked as missed. Such a
 * row is retired when enough looks in a row missed it (`Belief` in writing.ts).
 */
export function retiredOnceBelieved<W extends Write>(
  statement: Statement<W>,
  dataset: Dataset,
  at: number,
  { from, to, retire }: Standing,
): Missing {
  const table = `recorder.${dataset.name}`;
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const looks = statement.param('integer', ({ batches }) => batches[at]?.retire?.believe.looks ?? 1);
  const after = statement.param(
    'double precision',
    ({ batches }) => (batches[at]?.retire?.believe.after ?? 0) / 1000,
  );
  const scope = scopeOf(statement, dataset, at, to);
  const joined = `o.run_id = fence.run_id and not exists (
          select from ${table} g where ${sameKey(dataset, 'g', 'o')} and g.${to} = o.${from})`;
  const believed = `(not doubtful or u.missed_looks >= ${looks}
          and u.missed_from <= ${observedAt} - make_interval(secs => ${after}))`;
  const ctes = [
    `unseen_${at} as materialized (
        select u.place, coalesce(o.missed_looks, 0) + 1 as missed_looks, coalesce(o.missed_from, ${observedAt}) as missed_from
        from (${unseen(statement, dataset, at, to)}) u join ${table} o on o.ctid = u.place)`,
    // Counting is needed only where something is missing.
    `look_${at} as materialized (
        select gone, standing, coalesce(gone * 2 > standing, false) as doubtful from (
          select gone, case when gone > 0 then
            (select count(*) from ${table} o, fence where ${scope} and not (${joined})) end as standing
          from (select count(*) as gone from unseen_${at}) unseen) counted)`,
    `missed_${at} as (
        update ${table} o set missed_looks = u.missed_looks, missed_from = u.missed_from
        from unseen_${at} u, look_${at} where o.ctid = u.place and not ${believed} returning 1)`,
    `found_${at} as (
        update ${table} o set missed_looks = null, missed_from = null
        from compared_${at} n where n.was_missed and not n.differs and o.ctid = n.place returning 1)`,
    `retired_${at} as (
        update ${table} o set ${retire}
        from unseen_${at} u, look_${at} where o.ctid = u.place and ${believed}
        returning ${keyList(dataset, 'o')}o.${from} as begins)`,
  ];
  const unconfirmed = `(select 'unconfirmed: ' || standing - gone || ' of ' || standing || ' are left; a later look decides'
      from look_${at} where exists (select from missed_${at}))`;
  return { ctes, unconfirmed };
}

/** SQL: the row `o` is a current row of the target, and the walk was complete; false after an incomplete walk. */
function scopeOf<W extends Write>(statement: Statement<W>, dataset: Dataset, at: number, to: string): string {
  const may = statement.param('boolean', ({ batches }) => batches[at]?.retire != null);
  const values = requestValues(statement, dataset, at);
  const scope = standingRequest(dataset).map((name, index) => `o.${name} = ${values[index]}`);
  if (dataset.source.range) {
    const time = dataset.key.at(-1);
    const bound = (end: 'from' | 'to') =>
      statement.param('timestamptz', ({ batches }) => {
        const window = batches[at]?.retire?.window;
        return window ? new Date(window[end]).toISOString() : null;
      });
    scope.push(`o.${time} >= ${bound('from')}`, `o.${time} < ${bound('to')}`);
  }
  return [may, ...scope, `o.${to} is null`].join(' and ');
}

/**
 * SQL: where the target's current rows stand (`place`) that a complete walk did not see. What stands and what was seen are put side by
 * side by key, each read once: joined, they may be compared each with each while PostgreSQL has no statistics of the table.
 */
function unseen<W extends Write>(statement: Statement<W>, dataset: Dataset, at: number, to: string): string {
  const columns = keyColumns(dataset);
  if (columns.length === 0) return 'select null::tid as place where false';
  const none = noKeys(dataset);
  const arrays = columns.map(({ type }, place) =>
    statement.param(`${type}[]`, ({ batches }) => (batches[at]?.retire?.seen ?? none).array(place)),
  );
  const key = (row: string) =>
    columns.map(({ name, nullable }) => `${keyPart(name, nullable, row)} as ${name}`).join(', ');
  return `select max(place) as place from (
          select ${key('o')}, o.ctid as place from recorder.${dataset.name} o, fence where ${scopeOf(statement, dataset, at, to)}
          union all
          select ${key('seen')}, null from unnest(${arrays.join(', ')}) as seen(${columns.map(({ name }) => name).join(', ')})) side_by_side
        group by ${columns.map(({ name }) => name).join(', ')} having count(place) = count(*)`;
}
