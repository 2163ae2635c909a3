import type postgres from 'postgres';
import type { z } from 'zod';
import type { CsvValue } from '../../lib/csv.ts';

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
