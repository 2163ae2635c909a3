import { sqlStateOf } from './sql-state.ts';
import { isUniqueViolation } from './unique-violation.ts';

/**
 * SQLSTATE classes of errors about the connection, the schema, the load or the state of the server. After
 * such an error, other rows would fail as well.
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
  'XX', // an internal error, or a damaged table; see the exception in `refusesRows`
]);

/**
 * Returns true if the database refused rows because of their values. Other rows can still be stored. These
 * are errors about the data (SQLSTATE classes 22, 23, 54, and errors of triggers). Values too large for the
 * memory of the server or of this process count as well.
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

/**
 * Error of a batch in which too many items were refused. The cause is the table or the database, not the
 * items.
 */
export class TooManyRefusalsError extends Error {
  override readonly name = 'TooManyRefusalsError';
}

/** Maximum number of attempts to store items. Concurrent commits of other targets cause unique violations. */
const MAX_ATTEMPTS = 10;

/**
 * Stores items, and retries after a unique violation. The cause is another target that committed the same row
 * at the same time; the retried statement reads that row.
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
 * @param store stores a part of the items: all of the part or none
 * @param most maximum number of refused items. Default: unlimited
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
          `more than ${most} items cannot be stored; error of the last item: ${error.message}`,
        );
    }
  }
  return refused;
}
