import postgres from 'postgres';
import { messageOf } from '../errors.ts';

/** A part that cannot be stored even when it stands alone, with the database's reason. */
export interface Alone<T> {
  readonly part: T;
  readonly reason: string;
}

/**
 * So many parts of one commit may be found unstorable, two statements and the logarithm of the commit's size each.
 * More than that is no accident of single items, but something about the table or the database: then the run fails.
 */
const MOST_ALONE = 1_000;

/** A commit of which so much cannot be stored that it is not about its items any more. */
export class Unstorable extends Error {
  override readonly name = 'Unstorable';
}

/**
 * Stores parts of which PostgreSQL refused some when they came together: by halves, and the halves that are refused by
 * halves again, until those that cannot be stored stand alone. What was stored stays stored, whatever follows.
 * @param store stores some of the parts in one statement. @returns those that stand alone in the end
 * @throws Unstorable when they are too many; whatever `store` throws that is not about data
 */
export async function storeByHalves<T>(
  parts: readonly T[],
  store: (parts: readonly T[]) => Promise<void>,
): Promise<Alone<T>[]> {
  const alone: Alone<T>[] = [];
  const waiting: (readonly T[])[] = parts.length > 1 ? halves(parts) : [parts];
  for (let some = waiting.pop(); some; some = waiting.pop()) {
    if (some.length === 0) continue;
    try {
      await store(some);
    } catch (error) {
      if (!isAboutData(error)) throw error;
      const [part] = some;
      if (some.length > 1 || part === undefined) waiting.push(...halves(some));
      else alone.push({ part, reason: messageOf(error) });
      if (alone.length > MOST_ALONE)
        throw new Unstorable(
          `more than ${MOST_ALONE} items of one commit cannot be stored; the last one because: ${messageOf(error)}`,
        );
    }
  }
  return alone;
}

/** The second half first, so that the first one is taken first. */
function halves<T>(parts: readonly T[]): [readonly T[], readonly T[]] {
  const middle = Math.ceil(parts.length / 2);
  return [parts.slice(middle), parts.slice(0, middle)];
}

/**
 * Whether a statement failed by the data in it and would fail again: SQLSTATE classes 22 (data), 23 (constraints) and
 * 54 (limits), what a trigger raises, and what is too large for memory, there or here.
 */
export function isAboutData(error: unknown): boolean {
  if (error instanceof RangeError) return true; // a text longer than V8 can make
  if (!(error instanceof postgres.PostgresError)) return false;
  return (
    /^(?:22|23|54)/.test(error.code) ||
    error.code === 'P0001' ||
    (error.code === 'XX000' && error.message.startsWith('invalid memory alloc request size'))
  );
}
