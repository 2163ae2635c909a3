import type { Value } from '../../reporting/relations/values.ts';
import type { CsvColumn, Operation, PreparedResponse } from './operation.ts';

/** Path, id, tag and summary of an operation. */
export type OperationName = Pick<Operation, 'path' | 'id' | 'tag' | 'summary'>;

type Sql = Parameters<PreparedResponse['json']>[0];

/**
 * Creates a response of a single page.
 * @param lines converts the result to lines of CSV
 */
export const createSinglePage = <T>(
  columns: readonly CsvColumn[],
  read: (sql: Sql) => Promise<T>,
  lines: (answer: T) => readonly (readonly Value[])[],
): PreparedResponse => ({
  json: read,
  csv: { columns, page: async (sql) => ({ lines: lines(await read(sql)), next: null }) },
});

/**
 * Declares columns of CSV.
 * @param types PostgreSQL types by name of the column
 */
export const csvColumns = (types: Readonly<Record<string, string>>): CsvColumn[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }));
