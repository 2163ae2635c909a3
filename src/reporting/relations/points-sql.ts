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
  /** The rows of a line are found by time through an index: reading some of them again costs little. */
  readonly foundByTime: boolean;
  /** The same rows in parts: those of each are found in the order of time, all of them together are not. Null: they are. */
  readonly parts: (() => readonly Pick<PointsSql, 'rows' | 'conditions'>[]) | null;
  /** They are one line whose parts are found by time, as of whatever moment: where there are too many, a part is read by itself. */
  readonly inPieces: boolean;
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

/** Whether there is one line: one value, of one thing. */
export const isOneLine = ({ values, of }: Pick<PointsSql, 'values' | 'of'>) =>
  values.length === 1 && of.length === 0;
