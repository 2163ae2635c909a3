/**
 * Rows by view. The build writes `client-rows.d.ts` with every view of `reporting`, its columns and their
 * meaning.
 */
export interface Views {
  readonly [view: string]: Readonly<Record<string, unknown>>;
}

/** Datasets, each with the view that has every version of its rows. */
export interface Datasets {
  readonly [dataset: string]: string;
}
