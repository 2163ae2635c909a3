/** What a link to an answer says. */
interface Asked {
  readonly sql: string;
  /** The names without a schema show what was known at this moment; null or absent: now. */
  readonly asOf?: string | null;
  readonly show?: 'table' | 'chart';
}

/** The address that asks a question again. @param form absent: the page; else the answer as a file */
export function queryLink({ sql, asOf, show }: Asked, form: '' | '.json' | '.csv' = ''): string {
  const said = new URLSearchParams({ sql });
  if (asOf) said.set('as_of', asOf);
  if (show === 'chart' && form === '') said.set('show', show);
  return `/query${form}?${said}`;
}
