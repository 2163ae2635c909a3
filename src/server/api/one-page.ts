import type { Value } from '../../reporting/relations/values.ts';
import type { Answering, CsvColumn, Operation } from './operation.ts';

/** What an operation is called. */
export type Named = Pick<Operation, 'path' | 'id' | 'tag' | 'summary'>;

type Sql = Parameters<Answering['json']>[0];

/** An answer that is one page. @param lines the answer as CSV */
export const onePage = <T>(
  columns: readonly CsvColumn[],
  read: (sql: Sql) => Promise<T>,
  lines: (answer: T) => readonly (readonly Value[])[],
): Answering => ({
  json: read,
  csv: { columns, page: async (sql) => ({ lines: lines(await read(sql)), next: null }) },
});

/** Columns of CSV, with PostgreSQL's types. */
export const csvColumns = (types: Readonly<Record<string, string>>): CsvColumn[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }));
