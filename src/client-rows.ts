/**
 * Rows by view. The build writes `client-rows.d.ts` with every view of `reporting`, its columns and their
 * meaning.
 */
export interface Views {
  readonly [view: string]: Readonly<Record<string, unknown>>;
}

/** Names of datasets, and of the view with every version of their rows. */
export interface Datasets {
  readonly [dataset: string]: string;
}
