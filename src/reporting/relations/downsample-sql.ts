import { isOneLine, type PointsSql, pointsSql } from './points-sql.ts';

/** Approximate number of pieces of all parts together, small enough for a hash table in memory. */
const TARGET_PIECES = 8_000;
/** Minimum number of pieces of each part. */
const MIN_PIECES_PER_PART = 4;

/**
 * Returns a statement that downsamples like {@link downsampleSql}, for a single line whose rows an index
 * finds by time. Each part is divided into pieces. The first scan reads all rows and keeps only the first,
 * last, minimum and maximum of each piece. The second scan reads the pieces that contain the first, last,
 * minimum or maximum of a part again, through the index.
 * @param buckets number of parts
 */
function downsampleLineSql(points: PointsSql, buckets: number): string {
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
  -- Rounded up, so that there are not more parts than requested.
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
  -- Each piece is read separately, in the order of the index and with a limit. A join would read all rows again, and another index would read rows outside the piece.
  cross join lateral (select i.* from (${ofPiece}) i order by i.at limit x.points) p
  where (select of from line) > ${fits} and (p.at in (e.first, e.last) or p.value in (e.least, e.greatest))
  group by e.part, e.first, e.last, e.least, e.greatest
),
selected as (
  select c.at, c.value
  from extremes x
  cross join lateral (values (x.first, x.first_value), (x.last, x.last_value), (x.least_at, x.least), (x.greatest_at, x.greatest))
    as c(at, value)
  union
  select p.at, p.value from (${all}) p where (select of from line) <= ${fits}
)
select '[]'::jsonb as line, t.at::text as at, t.value::text as value, (select of from line)::text as of, '1' as lines
from selected t
order by t.at, t.value`;
}

/** A result row of {@link downsampleSql}. Rows are ordered by line, then by time. */
export interface DownsampledRow {
  /** The key of the line: the texts, then the name of the value if there are several. */
  readonly line: readonly (string | null)[];
  readonly at: string;
  /** Null: the previous value ended at this time, and no other value follows immediately. */
  readonly value: string | null;
  /** The number of points of the line in the window. */
  readonly of: string;
  /** The number of lines. */
  readonly lines: string;
}

/**
 * Returns a statement that reads downsampled points. If a line has more points than fit, the window is split
 * into equal parts. Of each part, the first, last, minimum and maximum point are returned (M4 aggregation),
 * so that the drawn line looks like the line of all points.
 * @param buckets number of parts; at most four times as many points are returned per line
 * @param most maximum number of lines; the lines with the greatest values are returned
 * @param first SQL of a JSON list of lines that precede all other lines; null: no lines
 */
export function downsampleSql(
  points: PointsSql,
  buckets: number,
  most: number,
  first: string | null = null,
): string {
  const { begin, end, ends } = points;
  if (points.foundByTime && isOneLine(points)) return downsampleLineSql(points, buckets);
  const fits = 4 * buckets;
  const isFirst = first === null ? '' : `to_jsonb(line) in (select jsonb_array_elements(${first})) desc, `;
  // Points are hashed, never sorted, because there may be millions. Without `offset 0`, PostgreSQL would hash
  // points by line only and compare each point with every part of its line.
  return `with points as materialized (
  ${pointsSql(points)}
),
spans as materialized (
  select ${begin ?? '(select min(at) from points)'} as begins, ${end ?? '(select max(at) from points)'} as ends
),
widths as materialized (
  select begins, ends, greatest((ends - begins) / ${buckets}, interval '1 microsecond') as width from spans
),
parts as materialized (
  select p.line, date_bin(w.width, p.at, w.begins) as part, count(*) as points, min(p.at) as first, max(p.at) as last,
    min(p.value) as least, max(p.value) as greatest
  from points p, widths w
  group by 1, 2
),
lines as materialized (
  select line, sum(points) as of, row_number() over (order by ${isFirst}max(greatest) desc, line) as rank, count(*) over () as lines
  from parts
  group by line
),
extremes as (
  select x.line, x.first, x.last, x.least, x.greatest,
    min(p.value) filter (where p.at = x.first) as first_value, min(p.value) filter (where p.at = x.last) as last_value,
    min(p.at) filter (where p.value = x.least) as least_at, min(p.at) filter (where p.value = x.greatest) as greatest_at
  from (select p.*, date_bin(w.width, p.at, w.begins) as part from points p cross join widths w offset 0) p
  join parts x on x.line = p.line and x.part = p.part
  join lines l on l.line = x.line and l.of > ${fits} and l.rank <= ${most}
  where p.at in (x.first, x.last) or p.value in (x.least, x.greatest)
  group by x.line, x.part, x.first, x.last, x.least, x.greatest
),
selected as (
  select x.line, c.at, c.value
  from extremes x
  cross join lateral (values (x.first, x.first_value), (x.last, x.last_value), (x.least_at, x.least), (x.greatest_at, x.greatest))
    as c(at, value)
  union
  select p.line, p.at, p.value from points p join lines l on l.line = p.line and l.of <= ${fits} and l.rank <= ${most}
  where exists (select from lines where of <= ${fits})${ends === null ? '' : endedSql(fits, most)}
)
select to_jsonb(t.line) as line, t.at::text as at, t.value::text as value, l.of::text as of, l.lines::text as lines
from selected t join lines l using (line)
order by l.rank, t.at, t.value`;
}

/**
 * Returns SQL that adds a null point where a value ended and no other value follows immediately, unless the
 * gap is too short to be visible.
 */
const endedSql = (fits: number, most: number) => `
  union
  select p.line, p.ends, null
  from (select line, ends, lead(at) over (partition by line order by at) as next from points) p
  cross join widths w
  join lines l on l.line = p.line and l.rank <= ${most}
  where p.ends < w.ends and (p.next is null or p.next > p.ends + case when l.of > ${fits} then w.width else interval '0' end)`;
