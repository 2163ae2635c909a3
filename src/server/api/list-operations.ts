import type postgres from 'postgres';
import { z } from 'zod';
import type { DatasetRelations } from '../../reporting/relations/catalogue.ts';
import { parseCursor } from '../../reporting/relations/cursor.ts';
import {
  differencesFilters,
  differencesParameters,
  readDifferences,
} from '../../reporting/relations/differences.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { type ListQuery, listFilterParameters, MAX_ROWS } from '../../reporting/relations/list-parameters.ts';
import type { Relation } from '../../reporting/relations/relation.ts';
import { rowsParameters } from '../../reporting/relations/row-query.ts';
import { readRows } from '../../reporting/relations/rows.ts';
import type { CsvPage, JsonSchema, Operation, OperationName, RawParameters } from './operation.ts';
import { jsonSchema, pageSchema } from './schemas.ts';

export function rowsOperation(named: OperationName, relation: Relation): Operation {
  const names = (relation.parameters ?? []).map(({ name }) => name);
  return {
    ...named,
    parameters: () =>
      describeParameters(rowsParameters(relation), listFilterParameters(relation.columns, names)),
    answer: pageSchema(relation.name),
    prepare: (params) => {
      const query = validateParameters(rowsParameters(relation), params);
      return {
        json: (sql) => readRows(sql, relation, query),
        csv: {
          columns: query.columns.map(({ name }) => name),
          page: csvPages(params, query, (sql, page) => readRows(sql, relation, page)),
        },
      };
    },
  };
}

/** Declares the operation that lists the differences of a dataset between two moments. */
export function changesOperation(named: OperationName, dataset: DatasetRelations): Operation {
  const schema = differencesParameters(dataset);
  return {
    ...named,
    parameters: () => describeParameters(schema, differencesFilters(dataset)),
    answer: differencesSchema(),
    prepare: (params) => {
      const query = validateParameters(schema, params);
      return {
        json: (sql) => readDifferences(sql, dataset, query),
        csv: {
          columns: ['change', ...query.order.columns.map(({ name }) => name), 'differs', 'before', 'after'],
          page: csvPages(params, query, async (sql, page) => {
            const { rows, next } = await readDifferences(sql, dataset, page);
            return { rows: rows.map(({ key, ...row }) => ({ ...key, ...row })), next };
          }),
        },
      };
    },
  };
}

/**
 * Returns the function that reads the pages of a CSV file, which contains all rows unless the request has a
 * limit. A page can have fewer rows than its limit.
 */
function csvPages<Query extends ListQuery>(
  params: RawParameters,
  query: Query,
  read: (sql: postgres.Sql, query: Query) => Promise<CsvPage>,
): (sql: postgres.Sql, after: string | null) => Promise<CsvPage> {
  let left = params.limit === undefined ? Number.POSITIVE_INFINITY : query.limit;
  return async (sql, after) => {
    const from = after === null ? query.after : parseCursor(after);
    const limit = after === null ? Math.min(left, MAX_ROWS) : MAX_ROWS;
    const { rows, next } = await read(sql, { ...query, after: from, limit });
    const kept = rows.slice(0, left);
    left -= kept.length;
    return { rows: kept, next: left > 0 ? next : null };
  };
}

function differencesSchema(): JsonSchema {
  const row = z.record(z.string(), z.unknown());
  return jsonSchema(
    z.strictObject({
      rows: z.array(
        z.strictObject({
          change: z.enum(['added', 'changed', 'left']),
          key: row,
          before: row.nullable(),
          after: row.nullable(),
          differs: z.array(z.string()),
        }),
      ),
      next: z.string().nullable(),
    }),
    'output',
  );
}

/** Returns the parameters of a schema, with the descriptions of its filters. */
export function describeParameters(
  schema: z.ZodType,
  filters: readonly { readonly parameter: string; readonly description: string }[] = [],
): ReturnType<Operation['parameters']> {
  const about = new Map(filters.map(({ parameter, description }) => [parameter, description]));
  return new Map(
    Object.entries(shapeOf(schema)).map(([name, one]) => {
      const description = about.get(name);
      return [name, description === undefined ? { schema: one } : { schema: one, description }];
    }),
  );
}

/** Returns the fields of an object schema, with or without a transformation; empty for other schemas. */
function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const object = schema instanceof z.ZodPipe ? schema.in : schema;
  if (!(object instanceof z.ZodObject)) return {};
  return Object.fromEntries(
    Object.entries(object.shape).filter(
      (entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType,
    ),
  );
}
