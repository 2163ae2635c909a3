import type { Value } from '../../reporting/relations/values.ts';
import type { Answering, CsvColumn, Operation } from './operation.ts';

/** The name of an operation and its path. */
export type Named = Pick<Operation, 'path' | 'id' | 'tag' | 'summary'>;

type Sql = Parameters<Answering['json']>[0];

/**
 * Creates a response of a single page.
 * @param lines converts the result to lines of CSV
 */
export const onePage = <T>(
  columns: readonly CsvColumn[],
  read: (sql: Sql) => Promise<T>,
  lines: (answer: T) => readonly (readonly Value[])[],
): Answering => ({
  json: read,
  csv: { columns, page: async (sql) => ({ lines: lines(await read(sql)), next: null }) },
});

/**
 * Declares columns of CSV.
 * @param types types of PostgreSQL by column
 */
export const csvColumns = (types: Readonly<Record<string, string>>): CsvColumn[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }));
