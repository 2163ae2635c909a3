/** The parameters of a chart's URL. */
export interface ChartLinkParameters {
  /** Name of the chart source: one of `drawables`. */
  readonly of: string;
  /** The columns of values. Default: the default columns of the source. */
  readonly columns?: readonly string[];
  /**
   * Selected keys by column, such as `chain_id: '43114'`. Several values are separated by commas; each is
   * drawn as a separate line.
   */
  readonly selected: Readonly<Record<string, string>>;
  /** The grain: hour, day, month or year. Default: a grain that fits the window. */
  readonly by?: string | null;
  /** Inclusive start of the window. Default: the newest part of the record. */
  readonly from?: Date | null;
  /** Exclusive end of the window. Default: now. */
  readonly to?: Date | null;
  /** Moment of the record. Default: now. */
  readonly asOf?: string | null;
  /** A second moment of the record, drawn over the first one. Default: none. */
  readonly beside?: string | null;
}

/**
 * Returns the URL of a chart, which contains all parameters of the view:
 * `/charts?of=metric_points&chain_id=43114&metric=txCount&time_interval=day`.
 */
export function chartLink({
  of,
  columns,
  selected,
  by,
  from,
  to,
  asOf,
  beside,
}: ChartLinkParameters): string {
  const query = new URLSearchParams({
    of,
    ...(columns ? { column: columns.join(',') } : {}),
    ...selected,
    ...(by ? { by } : {}),
  });
  for (const [name, moment] of Object.entries({ from, to, as_of: asOf, beside }))
    if (moment) query.set(name, typeof moment === 'string' ? moment : moment.toISOString());
  return `/charts?${query}`;
}
