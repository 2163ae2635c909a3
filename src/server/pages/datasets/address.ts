/** Parameters of an address, each given once. */
export type Parameters = Readonly<Record<string, string>>;

/** An address on this server. Parameters of null are left out. */
export function hrefOf(path: string, parameters: Readonly<Record<string, string | null>> = {}): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== null);
  // What may stand in a query as it is stays readable.
  const query = new URLSearchParams(given).toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return query === '' ? path : `${path}?${query}`;
}

/** What stays when one walks on to other rows: the moment of knowledge. */
export const asOfOnly = ({ as_of: asOf }: Parameters): Parameters =>
  asOf === undefined ? {} : { as_of: asOf };

/** The same parameters without some of them. */
export function without(parameters: Parameters, ...names: readonly string[]): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));
}

/**
 * What a form sent, as an address has it: fields that were left empty are not told, and the boxes that were ticked for `columns` are
 * one list. Anything else that is given twice stays as it is, and is refused where it is read.
 */
export function tidied(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
      if (value === '') return [];
      return [[name, name === 'columns' && Array.isArray(value) ? value.join(',') : value]];
    }),
  );
}

/** The parameters when each is given once; null: some are given more often. */
export function parametersOf(given: Readonly<Record<string, unknown>>): Parameters | null {
  const texts = Object.entries(given).filter((one): one is [string, string] => typeof one[1] === 'string');
  return texts.length === Object.keys(given).length ? Object.fromEntries(texts) : null;
}
