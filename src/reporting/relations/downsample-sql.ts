/** SQL of points over time, the input of `downsampleSql`. Every part is an expression over the rows `r`. */
export interface PointsSql {
  /** A FROM item. */
  readonly rows: string;
  readonly conditions: readonly string[];
  readonly at: string;
  /**
   * SQL of the end of a value's validity, which is null while the value is valid. Null: values have no
   * validity, and a point is valid only at its own time.
   */
  readonly ends: string | null;
  /** The values by name. Each point has one of these values. */
  readonly values: readonly (readonly [name: string, value: string])[];
  /** Texts that distinguish lines, in addition to the name of the value. */
  readonly of: readonly string[];
  /**
   * Interval by which rows are counted: `hour`, `day` or `month`. Null: rows have values and are not counted.
   */
  readonly counted: string | null;
  /** SQL of the start of the window. Null: the first point. */
  readonly begin: string | null;
  /** SQL of the exclusive end of the window. Null: after the last point. */
  readonly end: string | null;
  /**
   * The rows in parts, if the rows of each part can be read in the order of time, but not all rows together.
   * Null: all rows together can be read in this order.
   */
  readonly parts: (() => readonly Pick<PointsSql, 'rows' | 'conditions'>[]) | null;
  /**
   * True if the points are one line that can be read by time, also for a past moment. Then too many points
   * are read in pieces.
   */
  readonly inPieces: boolean;
}

/** Returns the SELECT of all points before downsampling. */
export function pointsSql({ rows, conditions, at, ends, values, of, counted }: PointsSql): string {
  const line = [...of.map((one) => `${one}::text`), ...(values.length > 1 ? ['v.name'] : [])];
  const lineSql = line.length > 0 ? `array[${line.join(', ')}]` : `'{}'::text[]`;
  const listed = values.map(([name, value]) => `('${name}', ${value})`).join(', ');
  const where = conditions.length > 0 ? `\n  where ${conditions.join('\n    and ')}` : '';
  if (counted !== null)
    return `select date_trunc('${counted}', ${at}, 'UTC') as at, count(*) as value, ${lineSql} as line, null::timestamptz as ends
  from ${rows} as r${where}
  group by 1, 3`;
  return `select ${at} as at, v.value, ${lineSql} as line, ${ends ?? 'null::timestamptz'} as ends
  from ${rows} as r cross join lateral (values ${listed}) as v(name, value)${where}${where === '' ? '\n  where' : '\n    and'} v.value is not null`;
}

/** Returns true if there is only one line: one value of one entity. */
export const isOneLine = ({ values, of }: Pick<PointsSql, 'values' | 'of'>) =>
  values.length === 1 && of.length === 0;

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
