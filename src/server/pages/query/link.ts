/** The parameters of a link to a result. */
interface QueryLinkParameters {
  readonly sql: string;
  /** Names without a schema show the record as of this moment. Default: now. */
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
  const said = new URLSearchParams({ sql });
  if (asOf) said.set('as_of', asOf);
  if (show === 'chart' && form === '') said.set('show', show);
  return `/query${form}?${said}`;
}
