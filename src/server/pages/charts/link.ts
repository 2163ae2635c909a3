/** A chart as its address tells it. */
export interface ChartAsked {
  /** A dataset of `chartables`. */
  readonly of: string;
  /** The column of values; absent: the first one. */
  readonly column?: string | undefined;
  /** By column what is drawn: `chain_id: '43114'`, or several with commas between them, each a line of its own. */
  readonly things: Readonly<Record<string, string>>;
  /** The window; absent or null: the newest part. */
  readonly from?: Date | null;
  readonly to?: Date | null;
  /** What was known at this moment; absent or null: now. */
  readonly asOf?: Date | null;
  /** A second moment of knowledge, drawn over the first; absent or null: none. */
  readonly beside?: Date | null;
}

/** The address of a chart: `/charts?of=metric_points&chain_id=43114&metric=txCount&time_interval=day`. It reproduces the view. */
export function chartLink({ of, column, things, from, to, asOf, beside }: ChartAsked): string {
  const said = new URLSearchParams({ of, ...(column === undefined ? {} : { column }), ...things });
  for (const [name, moment] of Object.entries({ from, to, as_of: asOf, beside }))
    if (moment) said.set(name, moment.toISOString());
  return `/charts?${said}`;
}
