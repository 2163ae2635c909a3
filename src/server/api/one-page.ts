import { z } from 'zod';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import type { CsvPage, JsonSchema, Operation, PreparedResponse } from './operation.ts';

/** Path, id, tag and summary of an operation. */
export type OperationName = Pick<Operation, 'path' | 'id' | 'tag' | 'summary'>;

interface SinglePage<T> {
  /** Columns of the CSV. */
  readonly columns: readonly string[];
  read(sql: Parameters<PreparedResponse['json']>[0]): Promise<T>;
  /** Converts the result to rows of the CSV. */
  rows(answer: T): CsvPage['rows'];
}

export const createSinglePage = <T>({ columns, read, rows }: SinglePage<T>): PreparedResponse => ({
  json: read,
  csv: { columns, page: async (sql) => ({ rows: rows(await read(sql)), next: null }) },
});

const noParameters = z.strictObject(
  {},
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? 'the only parameter of this operation is format' : undefined,
  },
);

/**
 * Declares an operation without parameters.
 * @param answer schema of the response
 */
export const fixedOperation = <T>(
  named: OperationName,
  answer: JsonSchema,
  page: SinglePage<T>,
): Operation => ({
  ...named,
  parameters: () => new Map(),
  answer,
  prepare: (params) => {
    validateParameters(noParameters, params);
    return createSinglePage(page);
  },
});
