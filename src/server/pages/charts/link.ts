/** A chart as its address tells it. */
export interface ChartAsked {
  /** One of `drawables`. */
  readonly of: string;
  /** The columns of values; absent: the usual ones. */
  readonly columns?: readonly string[];
  /** By column what is drawn: `chain_id: '43114'`, or several with commas between them, each a line of its own. */
  readonly things: Readonly<Record<string, string>>;
  /** By which hour, day, month or year; absent: as it suits the window. */
  readonly by?: string | null;
  /** The window; absent or null: the newest part. */
  readonly from?: Date | null;
  readonly to?: Date | null;
  /** What was known at this moment; absent or null: now. */
  readonly asOf?: string | null;
  /** A second moment of knowledge, drawn over the first; absent or null: none. */
  readonly beside?: string | null;
}

/** The address of a chart: `/charts?of=metric_points&chain_id=43114&metric=txCount&time_interval=day`. It reproduces the view. */
export function chartLink({ of, columns, things, by, from, to, asOf, beside }: ChartAsked): string {
  const said = new URLSearchParams({
    of,
    ...(columns ? { column: columns.join(',') } : {}),
    ...things,
    ...(by ? { by } : {}),
  });
  for (const [name, moment] of Object.entries({ from, to, as_of: asOf, beside }))
    if (moment) said.set(name, typeof moment === 'string' ? moment : moment.toISOString());
  return `/charts?${said}`;
}
