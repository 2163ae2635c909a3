import { sqlStateOf } from './sql-state.ts';
import { isUniqueViolation } from './unique-violation.ts';

/**
 * SQLSTATE classes about the connection, the schema, the load or the state of the server: other rows would
 * fail as well.
 */
const NON_ROW_ERROR_CLASSES: ReadonlySet<string> = new Set([
  '08', // connection
  '25', // read-only, or another state of the transaction
  '28', // authorization
  '3D', // the database does not exist
  '40', // deadlock, serialization
  '42', // the table or the right is missing
  '53', // disk, memory, connections
  '55', // lock not available
  '57', // cancelled, shutting down
  '58', // system
  'F0', // configuration files
  'XX', // an internal error, or a damaged table; see the exception below
]);

/**
 * Returns true if rows were refused because of their values, so that other rows may be stored. These are errors
 * about the data (SQLSTATE classes 22, 23, 54, and errors of triggers). Values too large for the memory of the
 * server or of this process count as well.
 */
export function refusesRows(error: unknown): error is Error {
  if (error instanceof RangeError) return true; // a text longer than V8 supports
  const code = sqlStateOf(error);
  if (code === null || !(error instanceof Error)) return false;
  return (
    !NON_ROW_ERROR_CLASSES.has(code.slice(0, 2)) ||
    error.message.startsWith('invalid memory alloc request size')
  );
}

/** An item that the database refused, and the error. */
export interface RefusedItem<T> {
  readonly item: T;
  readonly error: Error;
}

/** Too many items were refused: the cause is the table or the database, not the items. */
export class TooManyRefusalsError extends Error {
  override readonly name = 'TooManyRefusalsError';
}

/**
 * Maximum number of attempts after unique violations. Items of other targets may be committed at the same
 * time.
 */
const MAX_ATTEMPTS = 10;

/**
 * Stores items, and retries after a unique violation: another target committed the same row at the same time.
 * A new statement sees that row.
 */
async function storeOnceVisible<T>(
  store: (items: readonly T[]) => Promise<unknown>,
  items: readonly T[],
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await store(items);
      return;
    } catch (error) {
      if (!isUniqueViolation(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Stores items together. If the database refuses them, bisects them until each refused item is found. This
 * takes about 2 · log2(items) statements for each refused item. Items that were stored stay stored, even if a
 * later statement fails.
 * @param store stores some of them, all or none
 * @param most maximum number of refused items
 * @returns the refused items, in their order
 * @throws TooManyRefusalsError if more items are refused, and the errors of `store` that are not about the
 * rows
 */
export async function storeByBisection<T>(
  items: readonly T[],
  store: (items: readonly T[]) => Promise<unknown>,
  most = Number.POSITIVE_INFINITY,
): Promise<RefusedItem<T>[]> {
  const refused: RefusedItem<T>[] = [];
  const waiting = [items];
  for (let some = waiting.pop(); some; some = waiting.pop()) {
    const [first] = some;
    if (first === undefined) continue;
    try {
      await storeOnceVisible(store, some);
    } catch (error) {
      if (!refusesRows(error)) throw error;
      const half = Math.ceil(some.length / 2);
      // `waiting` is a stack: the first half is stored first.
      if (some.length > 1) waiting.push(some.slice(half), some.slice(0, half));
      else refused.push({ item: first, error });
      if (refused.length > most)
        throw new TooManyRefusalsError(
          `more than ${most} items cannot be stored; the last one because: ${error.message}`,
        );
    }
  }
  return refused;
}
