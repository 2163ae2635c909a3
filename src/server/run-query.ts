import type { AnswerColumn } from '../db/question.ts';
import type { ReadGate } from '../db/read-gate.ts';

/** The longest that a block of an answer may take, and an answer with its wait, ms. */
const BLOCK = 10_000;
const WHOLE = 20_000;

/** Rows of an answer, as far as they fit. */
export interface Answered {
  readonly columns: readonly AnswerColumn[];
  /** Each is one JSON text: a list of texts and nulls, or an object. */
  readonly rows: readonly string[];
  /** There are more rows. */
  readonly more: boolean;
}

/** How much of an answer is wanted. */
export interface Wanted {
  readonly form: 'values' | 'object';
  /** The most rows, and the most characters of all rows together. */
  readonly rows: number;
  readonly characters: number;
}

/** Asks a statement that a user wrote, as `recorder_reader`, and takes what fits of its answer. */
export type Ask = (text: string, asOf: string | null, wanted: Wanted) => Promise<Answered>;

/**
 * Asks through the gate.
 * @param signal aborts when whoever asked is gone: the statement is cancelled
 * @returns a function that throws what `ReadGate.ask` throws
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
