import type postgres from 'postgres';
import { z } from 'zod';
import type { CsvValue } from '../../lib/csv.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';

/** Unvalidated parameters of a request, by name. */
export type RawParameters = Readonly<Record<string, unknown>>;

export type JsonSchema = Readonly<Record<string, unknown>>;

/** An endpoint of the API: its parameters, its response and its queries. */
export interface Operation {
  /** Path below `/api/v1`. */
  readonly path: string;
  /** `operationId` in the OpenAPI document: one word, because generated clients use it as a name. */
  readonly id: string;
  readonly tag: 'datasets' | 'views' | 'questions' | 'recording';
  readonly summary: string;
  /** The schemas and descriptions of the parameters, by name. */
  readonly parameters: () => ReadonlyMap<
    string,
    { readonly schema: z.ZodType; readonly description?: string }
  >;
  /** The schema of the response. */
  readonly answer: JsonSchema;
  /**
   * Validates the parameters, and returns the queries of the response.
   * @throws InvalidRequestError with all invalid parameters
   */
  readonly prepare: (params: RawParameters) => PreparedResponse;
}

/** The queries of a validated request. */
export interface PreparedResponse {
  readonly json: (sql: postgres.Sql) => Promise<unknown>;
  /** The response as CSV, page by page. */
  readonly csv: {
    readonly columns: readonly string[];
    /**
     * Returns a page of rows and the cursor of the next page; the cursor is null on the last page.
     * @param after the cursor; null for the first page
     */
    page(sql: postgres.Sql, after: string | null): Promise<CsvPage>;
  };
}

export interface CsvPage {
  readonly rows: readonly Readonly<Record<string, CsvValue>>[];
  readonly next: string | null;
}

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
