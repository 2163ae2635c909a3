/** Parses the values of a row from its JSON text, an array of texts and nulls. */
export function fieldsOf(row: string): (string | null)[] {
  const fields: unknown = JSON.parse(row);
  if (!Array.isArray(fields))
    throw new Error('a row of the result is not a JSON array: read the result in the form "values"');
  return fields.map((one: unknown) => (one === null ? null : String(one)));
}
