import type postgres from 'postgres';
import type { z } from 'zod';
import type { Value } from '../../reporting/relations/values.ts';

/** A column of an answer as CSV. */
export interface CsvColumn {
  readonly name: string;
  /** PostgreSQL's type. */
  readonly type: string;
}

/** Parameters of a request by name, as they came. */
export type Told = Readonly<Record<string, unknown>>;

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One address of the API: what it takes, what it answers, and how. */
export interface Operation {
  /** Below `/api/v1`. */
  readonly path: string;
  /** One word, for programs that are made from the document. */
  readonly id: string;
  readonly tag: 'datasets' | 'views' | 'questions' | 'recording';
  readonly summary: string;
  /** The schemas of its parameters by name, and what each is about. */
  readonly parameters: () => ReadonlyMap<
    string,
    { readonly schema: z.ZodType; readonly description?: string }
  >;
  /** The schema of its answer. */
  readonly answer: JsonSchema;
  /** Checks the parameters, and tells how to answer. @throws AskedWrongly with everything that is wrong */
  readonly ask: (told: Told) => Answering;
}

/** How a request that was checked is answered. */
export interface Answering {
  /** The answer as JSON. */
  readonly json: (sql: postgres.Sql) => Promise<unknown>;
  /** The answer as CSV, page by page. */
  readonly csv: {
    readonly columns: readonly CsvColumn[];
    /** A page of lines, and the cursor of the next one; null: it was the last. @param after the cursor; null: the first */
    page(sql: postgres.Sql, after: string | null): Promise<CsvPage>;
  };
}

/** A page of an answer as CSV. */
export interface CsvPage {
  readonly lines: readonly (readonly Value[])[];
  readonly next: string | null;
}
