/** Parses the values of a row from its JSON text, an array of texts and nulls. */
export function fieldsOf(row: string): (string | null)[] {
  const fields: unknown = JSON.parse(row);
  if (!Array.isArray(fields)) throw new Error('the row is not an array');
  return fields.map((one: unknown) => (one === null ? null : String(one)));
}
