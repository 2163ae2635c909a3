/** Query parameters of a URL, each given once. */
export type Parameters = Readonly<Record<string, string>>;

/** Returns a URL on this server. Parameters that are null are omitted. */
export function hrefOf(path: string, parameters: Readonly<Record<string, string | null>> = {}): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== null);
  // Decodes characters that are allowed in a query, for readability.
  const query = new URLSearchParams(given).toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return query === '' ? path : `${path}?${query}`;
}

/** Returns the parameters that links to other rows keep: the moment in `as_of`. */
export const keepAsOf = ({ as_of: asOf }: Parameters): Parameters =>
  asOf === undefined ? {} : { as_of: asOf };

/** Returns the parameters without some of them. */
export function without(parameters: Parameters, ...names: readonly string[]): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));
}

/**
 * Normalizes the fields of a form for a URL. Empty fields are omitted, and the ticked boxes of `columns`
 * become one list. Other repeated fields are unchanged; the parser of the parameters refuses them.
 */
export function normalizeParameters(
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
      if (value === '') return [];
      return [[name, name === 'columns' && Array.isArray(value) ? value.join(',') : value]];
    }),
  );
}

/** Returns the parameters if each is given once, else null. */
export function parametersOf(given: Readonly<Record<string, unknown>>): Parameters | null {
  const texts = Object.entries(given).filter((one): one is [string, string] => typeof one[1] === 'string');
  return texts.length === Object.keys(given).length ? Object.fromEntries(texts) : null;
}
