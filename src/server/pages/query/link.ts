interface QueryLinkParameters {
  readonly sql: string;
  /** Moment for names without a schema: their rows are returned as of this moment. Default: now. */
  readonly asOf?: string | null;
  readonly show?: 'table' | 'chart';
}

/**
 * Returns the URL of a query's result.
 * @param form format of a file. Default: the page
 */
export function queryLink(
  { sql, asOf, show }: QueryLinkParameters,
  form: '' | '.json' | '.csv' = '',
): string {
  const query = new URLSearchParams({ sql });
  if (asOf) query.set('as_of', asOf);
  if (show === 'chart' && form === '') query.set('show', show);
  return `/query${form}?${query}`;
}
