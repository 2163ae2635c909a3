import type { ResultColumn } from '../db/query-as-reader.ts';
import type { ReadGate } from '../db/read-gate.ts';

/** Timeout of one block of a result, in ms. */
const BLOCK_TIMEOUT_MS = 10_000;
/** Timeout of a whole result, including the wait for a connection, in ms. */
const RESULT_TIMEOUT_MS = 20_000;

/** Rows of a result, truncated to the limits. */
export interface QueryResult {
  readonly columns: readonly ResultColumn[];
  /** The rows, each as one JSON text: an array of texts and nulls, or an object. */
  readonly rows: readonly string[];
  /** True if the result was truncated. */
  readonly more: boolean;
}

/** Format and maximum size of a result. */
export interface ResultLimits {
  readonly form: 'values' | 'object';
  readonly rows: number;
  /** Maximum number of characters of all rows together. */
  readonly characters: number;
}

/** Runs a statement that a user wrote, as `recorder_reader`, and truncates the result. */
export type RunQuery = (text: string, asOf: string | null, limits: ResultLimits) => Promise<QueryResult>;

/**
 * Creates a function that runs queries through the gate.
 * @param signal aborts when the client disconnects; the statement is then cancelled
 * @returns a function that throws the errors of `ReadGate.runQuery`
 */
export function createQueryRunner(gate: ReadGate, signal: AbortSignal): RunQuery {
  return async (text, asOf, { form, rows: mostRows, characters }) => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(RESULT_TIMEOUT_MS)]);
    return gate.runQuery(
      { text, asOf, timeout: BLOCK_TIMEOUT_MS },
      async ({ columns, rows }) => {
        const resultRows: string[] = [];
        let size = 0;
        for await (const block of rows(form))
          for (const row of block) {
            if (resultRows.length === mostRows || size + row.length > characters)
              return { columns, rows: resultRows, more: true };
            resultRows.push(row);
            size += row.length;
          }
        return { columns, rows: resultRows, more: false };
      },
      within,
    );
  };
}
