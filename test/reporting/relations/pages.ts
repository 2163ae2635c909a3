import type postgres from 'postgres';
import { type DatasetRelations, getCatalogue } from '../../../src/reporting/relations/catalogue.ts';
import { validateParameters } from '../../../src/reporting/relations/invalid-request.ts';
import type { Relation } from '../../../src/reporting/relations/relation.ts';
import { type RowsQuery, rowsParameters } from '../../../src/reporting/relations/row-query.ts';
import { type Row, type RowsPage, readRows } from '../../../src/reporting/relations/rows.ts';

/** Parameters of a request, by name. */
export type Parameters = Readonly<Record<string, string>>;

const { datasets, views, internal } = getCatalogue();

/** Returns a view or function of the catalogue. @throws Error if the catalogue does not have it */
export const viewOf = (name: string): Relation => getOrThrow(views.has(name) ? views : internal, name);

/** Returns a dataset of the catalogue. @throws Error if the catalogue does not have it */
export const datasetOf = (name: string): DatasetRelations => getOrThrow(datasets, name);

function getOrThrow<T>(all: ReadonlyMap<string, T>, name: string): T {
  const one = all.get(name);
  if (!one) throw new Error(`the catalogue has no ${name}`);
  return one;
}

/** Parses the parameters of a page of rows. */
export const queryOf = (view: Relation, parameters: Parameters): RowsQuery =>
  validateParameters(rowsParameters(view), parameters);

/** Reads one page of rows. */
export const readPage = (sql: postgres.Sql, view: Relation, parameters: Parameters): Promise<RowsPage> =>
  readRows(sql, view, queryOf(view, parameters));

/** Reads all rows, page after page. */
export const readPages = (sql: postgres.Sql, view: Relation, parameters: Parameters): Promise<Row[]> =>
  walkPages((after) => readPage(sql, view, { ...parameters, ...after }));

/**
 * Returns the rows of all pages.
 * @param read reads the page of these parameters, which are those of the cursor
 */
export async function walkPages<R>(
  read: (after: Parameters) => Promise<{ readonly rows: readonly R[]; readonly next: string | null }>,
): Promise<R[]> {
  const rows: R[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page: { readonly rows: readonly R[]; readonly next: string | null } = await read(
      after ? { after } : {},
    );
    rows.push(...page.rows);
    after = page.next;
  }
  return rows;
}
