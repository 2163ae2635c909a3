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
