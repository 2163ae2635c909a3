import { sqlStateOf } from './sql-state.ts';
import { isUniqueViolation } from './unique-violation.ts';

/**
 * Classes of SQLSTATE that are about the connection, the schema, the load or the state of the server: other rows would
 * fail as well.
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
  'F0', // configuration files
  'XX', // the server's own fault, or a damaged table; but see below
]);

/**
 * Whether rows were refused because of their values, so that other rows may be stored: errors about the data (SQLSTATE
 * classes 22, 23, 54 and what a trigger raises), and values too large for the memory of the server or of this process.
 */
export function refusesRows(error: unknown): error is Error {
  if (error instanceof RangeError) return true; // a text longer than V8 can make
  const code = sqlStateOf(error);
  if (code === null || !(error instanceof Error)) return false;
  return (
    !OF_THE_SERVER.has(code.slice(0, 2)) || error.message.startsWith('invalid memory alloc request size')
  );
}

/** An item that the database refuses, and its error. */
export interface Refusal<T> {
  readonly item: T;
  readonly error: Error;
}

/** So many items were refused that the cause is the table or the database, not the items. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
}

/** Items of other targets may be committed at the same time as often as this. */
const MAX_ATTEMPTS = 10;

/**
 * Stores items, again after a unique violation: another target committed the same thing at the same time, and a new statement
 * sees what it stored.
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
 * Stores items together. When the database refuses them, it stores them in halves, until each refused item is found: about
 * twice the logarithm of the number of items in statements for each. What was stored stays stored, whatever follows.
 * @param store stores some of them, all or none
 * @param most so many may be refused
 * @returns those that were not stored, in their order
 * @throws Unstorable when more are refused; errors of `store` that are not about the rows
 */
export async function storeByHalves<T>(
  items: readonly T[],
  store: (items: readonly T[]) => Promise<unknown>,
  most = Number.POSITIVE_INFINITY,
): Promise<Refusal<T>[]> {
  const refused: Refusal<T>[] = [];
  const waiting = [items];
  for (let some = waiting.pop(); some; some = waiting.pop()) {
    const [first] = some;
    if (first === undefined) continue;
    try {
      await storeOnceVisible(store, some);
    } catch (error) {
      if (!refusesRows(error)) throw error;
      const half = Math.ceil(some.length / 2);
      // `waiting` is a stack: the first half is taken first.
      if (some.length > 1) waiting.push(some.slice(half), some.slice(0, half));
      else refused.push({ item: first, error });
      if (refused.length > most)
        throw new Unstorable(
          `more than ${most} items cannot be stored; the last one because: ${error.message}`,
        );
    }
  }
  return refused;
}
