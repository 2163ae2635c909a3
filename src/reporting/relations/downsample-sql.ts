import { type PointsSql, pointsSql } from './points-sql.ts';

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
