/**
 * Rows by view. The build writes `client-rows.d.ts` with every view of `reporting`, its columns and their
 * meaning.
 */
export interface Views {
  readonly [view: string]: Readonly<Record<string, unknown>>;
}

/** Names of the views with every version of a dataset's rows, by dataset. */
export interface Datasets {
  readonly [dataset: string]: string;
}
