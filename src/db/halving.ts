import postgres from 'postgres';

/**
 * Classes of SQLSTATE that are about the connection, the schema, the load or the state of the server: no other rows
 * would fare better.
 */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  '08', // connection
  '25', // read-only, or another state of the transaction
  '28', // authorization
  '3D', // no such database
  '40', // deadlock, serialization
  '42', // a table or a right that is not there
  '53', // disk, memory, connections
  '55', // lock not available
  '57', // cancelled, shutting down
  '58', // system
  'F0',
]);

/** Whether the database refused the rows that it was given, so that others may be stored. */
export function refusesRows(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && !OF_THE_SERVER.has(error.code.slice(0, 2));
}

/** Something that the database refuses, and how it said so. */
export interface Refusal<T> {
  readonly item: T;
  readonly error: postgres.PostgresError;
}

/**
 * Stores items together; where the database refuses them, by halves, until those stand alone that it refuses.
 * @param store stores some of them, all or none
 * @returns those that were not stored @throws whatever `store` throws that is not about the rows
 */
export async function storeByHalves<T>(
  items: readonly T[],
  store: (items: readonly T[]) => Promise<unknown>,
): Promise<Refusal<T>[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    await store(items);
    return [];
  } catch (error) {
    if (!refusesRows(error)) throw error;
    if (items.length === 1) return [{ item: first, error }];
  }
  const half = items.length >> 1;
  return [
    ...(await storeByHalves(items.slice(0, half), store)),
    ...(await storeByHalves(items.slice(half), store)),
  ];
}
