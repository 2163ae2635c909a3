/**
 * Parses the values of a row in the form `values` of a query result.
 * @param row JSON text of an array of texts and nulls
 */
export function parseFields(row: string): (string | null)[] {
  const fields: unknown = JSON.parse(row);
  if (!Array.isArray(fields)) throw new Error('a row of the result is not a JSON array');
  return fields.map((one: unknown) => (one === null ? null : String(one)));
}
