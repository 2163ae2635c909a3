import type { AnswerColumn } from '../db/question.ts';
import type { ReadGate } from '../db/read-gate.ts';

/** Timeouts of one block of a result, and of a whole result including its wait, in ms. */
const BLOCK = 10_000;
const WHOLE = 20_000;

/** Rows of a result, truncated to the limits. */
export interface Answered {
  readonly columns: readonly AnswerColumn[];
  /** Each is one JSON text: an array of texts and nulls, or an object. */
  readonly rows: readonly string[];
  /** The result was truncated. */
  readonly more: boolean;
}

/** Format and maximum size of a result. */
export interface Wanted {
  readonly form: 'values' | 'object';
  /** Maximum number of rows, and of characters of all rows together. */
  readonly rows: number;
  readonly characters: number;
}

/** Runs a statement that a user wrote, as `recorder_reader`, and truncates the result. */
export type Ask = (text: string, asOf: string | null, wanted: Wanted) => Promise<Answered>;

/**
 * Creates a function that runs queries through the gate.
 * @param signal aborts when the client disconnects; the statement is then cancelled
 * @returns a function that throws the errors of `ReadGate.ask`
 */
export function asking(gate: ReadGate, signal: AbortSignal): Ask {
  return async (text, asOf, { form, rows: mostRows, characters }) => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(WHOLE)]);
    return gate.ask(
      { text, asOf, timeout: BLOCK },
      async ({ columns, rows }) => {
        const taken: string[] = [];
        let size = 0;
        for await (const block of rows(form))
          for (const row of block) {
            if (taken.length === mostRows || size + row.length > characters)
              return { columns, rows: taken, more: true };
            taken.push(row);
            size += row.length;
          }
        return { columns, rows: taken, more: false };
      },
      within,
    );
  };
}
