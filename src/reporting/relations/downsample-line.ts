import { type PointsSql, pointsSql } from './points-sql.ts';

/**
 * Approximate number of pieces of all parts together, small enough for a hash table in memory. Each part has
 * at least {@link MIN_PIECES_PER_PART}.
 */
const TARGET_PIECES = 8_000;
const MIN_PIECES_PER_PART = 4;

/**
 * Downsamples like {@link downsampleSql}, for one line whose rows are found by time. All rows are read once,
 * and only the bounds of each piece of each part are kept, no points. The pieces with the bounds of a part
 * are then read again through the index.
 * @param buckets number of parts
 */
export function downsampleLineSql(points: PointsSql, buckets: number): string {
  const { at, begin, end } = points;
  const fits = 4 * buckets;
  // A power of two, so that parts of whole seconds have pieces of whole microseconds.
  const ofPart = Math.max(MIN_PIECES_PER_PART, 2 ** Math.floor(Math.log2(TARGET_PIECES / buckets)));
  const pieces = buckets * ofPart;
  const all = pointsSql(points);
  const ofPiece = pointsSql({
    ...points,
    conditions: [...points.conditions, `${at} >= x.begins`, `${at} < x.begins + (select piece from widths)`],
  });
  return `with spans as materialized (
  select ${begin ?? `(select min(at) from (${all}) p)`} as begins, ${end ?? `(select max(at) from (${all}) p)`} as ends
),
widths as materialized (
  -- Rounded up, so that there is no part too many.
  select s.begins, greatest(interval '1 microsecond',
    e.piece + case when ${pieces} * e.piece < s.ends - s.begins then interval '1 microsecond' else interval '0' end) as piece
  from spans s
  cross join lateral (select (s.ends - s.begins) / ${pieces} as piece) e
),
pieces as materialized (
  select b.*, date_bin(${ofPart} * w.piece, b.begins, w.begins) as part
  from (
    select date_bin((select piece from widths), p.at, (select begins from widths)) as begins, count(*) as points,
      min(p.at) as first, max(p.at) as last, min(p.value) as least, max(p.value) as greatest
    from (${all}) p
    group by 1) b, widths w
),
line as materialized (
  select sum(points) as of from pieces
),
parts as materialized (
  select part, min(first) as first, max(last) as last, min(least) as least, max(greatest) as greatest from pieces group by part
),
extremes as (
  select e.first, e.last, e.least, e.greatest,
    min(p.value) filter (where p.at = e.first) as first_value, min(p.value) filter (where p.at = e.last) as last_value,
    min(p.at) filter (where p.value = e.least) as least_at, min(p.at) filter (where p.value = e.greatest) as greatest_at
  from parts e
  join pieces x on x.part = e.part and (x.first = e.first or x.last = e.last or x.least = e.least or x.greatest = e.greatest)
  -- Piece by piece, in the order of the index and so many: a join would read all rows again, and other indexes more than the piece.
  cross join lateral (select i.* from (${ofPiece}) i order by i.at limit x.points) p
  where (select of from line) > ${fits} and (p.at in (e.first, e.last) or p.value in (e.least, e.greatest))
  group by e.part, e.first, e.last, e.least, e.greatest
),
told as (
  select c.at, c.value
  from extremes x
  cross join lateral (values (x.first, x.first_value), (x.last, x.last_value), (x.least_at, x.least), (x.greatest_at, x.greatest))
    as c(at, value)
  union
  select p.at, p.value from (${all}) p where (select of from line) <= ${fits}
)
select '[]'::jsonb as line, t.at::text as at, t.value::text as value, (select of from line)::text as of, '1' as lines
from told t
order by t.at, t.value`;
}
