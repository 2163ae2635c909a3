import { MAX_SCALE, MODE, POWERS, SLOPE_SHIFT, VALUE_LIMIT } from './strip.ts';
import type { PackedColumn, Packing } from './value-encoding.ts';

/**
 * SQL aggregates over the readings of one strip, in which the value of the first column is `v1`, and so on:
 * the number of decimals, whether trailing zeros are removed on reading, and whether the values can be packed
 * exactly.
 */
export function stripShapeSql(
  { kind }: PackedColumn,
  at: number,
): { scale: string; trimmed: string; fits: string } {
  const value = `v${at}`;
  switch (kind) {
    case 'flag':
      return { scale: '0', trimmed: 'false', fits: 'true' };
    case 'whole':
      return {
        scale: '0',
        trimmed: 'false',
        fits: `coalesce(max(abs(${value}::numeric)) < ${VALUE_LIMIT}, true)`,
      };
    case 'instant': {
      const isWhole = `${value} = date_trunc('second', ${value})`;
      const between = (from: string, to: string) => `${value} > '${from} UTC' and ${value} < '${to} UTC'`;
      return {
        scale: `case when bool_and(${isWhole}) then 0 else 6 end`,
        trimmed: 'false',
        // An instant is read as microseconds since 1970 in a double, which is exact for 285 years, and for
        // whole seconds of any year.
        fits: `coalesce(bool_and(${between('0001-01-01', '9999-12-31')} and (${isWhole} or ${between('1685-01-01', '2255-01-01')})), true)`,
      };
    }
    case 'number': {
      const [least, most] = [`min(scale(${value}))`, `max(scale(${value}))`];
      const alike = `(${least} = ${most} or bool_and(scale(${value}) = min_scale(${value})))`;
      // The scale of NaN and infinity is null.
      const within = `case when ${most} <= ${MAX_SCALE} then max(abs(${value})) * ${POWERS}[${most} + 1] < ${VALUE_LIMIT} else false end`;
      return {
        scale: `coalesce(${most}, 0)`,
        trimmed: `coalesce(${least} < ${most}, false)`,
        fits: `(count(${value}) = 0 or (count(scale(${value})) = count(${value}) and ${alike} and ${within}))`,
      };
    }
  }
}

/**
 * SQL: a value as an integer.
 * @param scale number of decimals
 * @param observedAt instant of the observation
 */
export function integerSql({ kind }: PackedColumn, value: string, scale: string, observedAt: string): string {
  const power = `${POWERS}[${scale} + 1]`;
  switch (kind) {
    case 'flag':
      return `${value}::int::bigint`;
    case 'whole':
      return `${value}::bigint`;
    case 'number':
      return `(${value} * ${power})::bigint`;
    case 'instant':
      return `(floor(extract(epoch from ${observedAt}) * ${power}) - extract(epoch from ${value}) * ${power})::bigint`;
  }
}

/** Names of the CTEs that build strips, and the columns that identify a strip. */
export interface StripCteNames {
  /** Suffix of the names of the CTEs. */
  readonly suffix: string;
  /** Columns that identify a strip, such as `n, c`. */
  readonly key: string;
  /**
   * A CTE with the key, `ordinal`, and `whole`: one row per reading of a strip, with null for null values.
   */
  readonly wholes: string;
  /** A CTE with the key, `scale` and `trimmed`. */
  readonly shapes: string;
  /** A CTE with `ordinal`: every ordinal of a strip. */
  readonly ordinals: string;
  /** True if strips may have a slope. */
  readonly sloping: boolean;
}

/**
 * Builds the CTEs that encode strips. The name of the last CTE is `strips` and the suffix. Its columns are the
 * key, base, slope, width, mode, and the bits as a text of zeros and ones.
 */
export function stripCtes({ suffix, key, wholes, shapes, ordinals, sloping }: StripCteNames): string[] {
  const on = (left: string, right: string) =>
    key
      .split(', ')
      .map((name) => `${left}.${name} = ${right}.${name}`)
      .join(' and ');
  const of = (alias: string) =>
    key
      .split(', ')
      .map((name) => `${alias}.${name}`)
      .join(', ');
  const bent = (slope: string, ordinal: string) => `((${slope}::bigint * ${ordinal}) >> ${SLOPE_SHIFT})`;
  const width = (range: string) =>
    `(case ${range} when 0 then 0 else length(ltrim((${range})::bigint::bit(64)::text, '0')) end)`;
  return [
    `ends${suffix} as (
      select ${key}, min(ordinal) as first, max(ordinal) as last,
        (array_agg(whole order by ordinal))[1] as at_first, (array_agg(whole order by ordinal desc))[1] as at_last
      from ${wholes} where whole is not null group by ${key})`,
    `slopes${suffix} as (
      select ${of('s')}, s.scale, s.trimmed, ${
        sloping
          ? `coalesce(case when e.last > e.first and abs(e.at_last::numeric - e.at_first) < 500000
          then ((e.at_last - e.at_first) * ${2 ** SLOPE_SHIFT} / (e.last - e.first))::int end, 0)`
          : '0'
      } as slope
      from ${shapes} s left join ends${suffix} e on ${on('e', 's')})`,
    `ranges${suffix} as (
      select ${of('p')}, p.scale, p.trimmed, p.slope, count(*) > count(whole) as nulls,
        coalesce(min(whole), 0) as flat_base, coalesce(max(whole) - min(whole), 0) as flat_range,
        coalesce(min(whole - ${bent('p.slope', 'ordinal')}), 0) as bent_base,
        coalesce(max(whole - ${bent('p.slope', 'ordinal')}) - min(whole - ${bent('p.slope', 'ordinal')}), 0) as bent_range
      from slopes${suffix} p join ${wholes} w on ${on('w', 'p')}
      group by ${of('p')}, p.scale, p.trimmed, p.slope)`,
    `chosen${suffix} as materialized (
      select ${key}, scale, trimmed, nulls, case when bends then slope else 0 end as slope,
        case when bends then bent_base else flat_base end as base,
        case when bends then bent_width else flat_width end as width
      from ranges${suffix} cross join lateral (
        select *, bent_width < flat_width as bends from (
          select ${width('(bent_range + nulls::int)')} as bent_width, ${width('(flat_range + nulls::int)')} as flat_width) widths) w)`,
    `strips${suffix} as materialized (
      select ${of('k')}, k.base, k.slope, k.width,
        (k.width + (k.scale << ${MODE.scaleAt}) + k.trimmed::int * ${MODE.trimmed} + k.nulls::int * ${MODE.nullable})::smallint as mode,
        case k.width when 0 then '' else string_agg(right((case
          when w.ordinal is null then 0
          when w.whole is null then -1
          else w.whole - ${bent('k.slope', 'w.ordinal')} - k.base end)::bigint::bit(64)::text, k.width), '' order by p.ordinal) end as bits
      from chosen${suffix} k cross join ${ordinals} p
        left join ${wholes} w on ${on('w', 'k')} and w.ordinal = p.ordinal
      group by ${of('k')}, k.base, k.slope, k.width, k.scale, k.trimmed, k.nulls)`,
  ];
}

/**
 * SQL: the content of the CTE `wholes`. Each reading of the CTE `from` becomes one row per value column.
 * @param member column that identifies a strip in addition to its column number; null: none
 */
export function integersSql(packing: Packing, from: string, shapes: string, member: string | null): string {
  const on = member === null ? '' : ` and h.${member} = r.${member}`;
  return packing.values
    .map(
      (value, at) =>
        `select ${member === null ? '' : `r.${member}, `}${at + 1} as c, r.ordinal, ${integerSql(value, `r.v${at + 1}`, 'h.scale', 'r.observed_at')} as whole
        from ${from} r join ${shapes} h on h.c = ${at + 1}${on}`,
    )
    .join('\n      union all\n      ');
}
