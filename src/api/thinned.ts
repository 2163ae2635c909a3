/** Points over time in SQL: what `thinned` reads. Every part is an expression over the rows `r`. */
export interface PointsSql {
  /** The rows. */
  readonly rows: string;
  readonly conditions: readonly string[];
  readonly at: string;
  /** Until when a value holds; null in it: still. Null: points say nothing of the time between them. */
  readonly ends: string | null;
  /** The values by name. A point has one of them. */
  readonly values: readonly (readonly [name: string, value: string])[];
  /** Texts that tell one line from another, beside the name of the value. */
  readonly of: readonly string[];
  /** Rows are counted by `hour`, `day` or `month` in place of having values; null: they have values. */
  readonly counted: string | null;
  /** The window, as instants; null: from the first point, to the last. */
  readonly begin: string | null;
  readonly end: string | null;
}

/** A row of the answer of {@link thinned}. Rows are in the order of lines, and then of time. */
export interface ThinnedRow {
  /** What the line is of: the texts, then the name of the value where there are several. */
  readonly line: readonly (string | null)[];
  readonly at: string;
  /** Null: the last value ended here, and nothing follows. */
  readonly value: string | null;
  /** How many points the line has in the window. */
  readonly of: string;
  /** How many lines there are. */
  readonly lines: string;
}

/** The SELECT of all points, as they are before anything is left out. */
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

/**
 * A statement that reads points. Where a line has more than fit, the window is cut into equal parts, and of each the first, the
 * last, the least and the greatest point are told (M4), so that a line drawn of them looks like the line of all.
 * @param buckets how many parts; up to four times as many points are told as they are
 * @param most how many lines: those with the greatest values
 */
export function thinned(points: PointsSql, buckets: number, most: number): string {
  const { begin, end, ends } = points;
  const fits = 4 * buckets;
  // Points are hashed, never sorted: there may be millions.
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
  select line, sum(points) as of, row_number() over (order by max(greatest) desc, line) as rank, count(*) over () as lines
  from parts
  group by line
),
extremes as (
  select x.line, x.first, x.last, x.least, x.greatest,
    min(p.value) filter (where p.at = x.first) as first_value, min(p.value) filter (where p.at = x.last) as last_value,
    min(p.at) filter (where p.value = x.least) as least_at, min(p.at) filter (where p.value = x.greatest) as greatest_at
  from points p
  cross join widths w
  join parts x on x.line = p.line and x.part = date_bin(w.width, p.at, w.begins)
  join lines l on l.line = x.line and l.of > ${fits} and l.rank <= ${most}
  where p.at in (x.first, x.last) or p.value in (x.least, x.greatest)
  group by x.line, x.part, x.first, x.last, x.least, x.greatest
),
told as (
  select x.line, c.at, c.value
  from extremes x
  cross join lateral (values (x.first, x.first_value), (x.last, x.last_value), (x.least_at, x.least), (x.greatest_at, x.greatest))
    as c(at, value)
  union
  select p.line, p.at, p.value from points p join lines l on l.line = p.line and l.of <= ${fits} and l.rank <= ${most}
  where exists (select from lines where of <= ${fits})${ends === null ? '' : endedSql(fits, most)}
)
select t.line, t.at::text as at, t.value::text as value, l.of::text as of, l.lines::text as lines
from told t join lines l using (line)
order by l.rank, t.at, t.value`;
}

/** Where the last value of a line ended and nothing followed, unless that is too short to be seen. */
const endedSql = (fits: number, most: number) => `
  union
  select p.line, p.ends, null
  from (select line, ends, lead(at) over (partition by line order by at) as next from points) p
  cross join widths w
  join lines l on l.line = p.line and l.rank <= ${most}
  where p.ends < w.ends and (p.next is null or p.next > p.ends + case when l.of > ${fits} then w.width else interval '0' end)`;
