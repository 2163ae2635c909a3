import { z } from 'zod';
import type { DatasetRelations } from '../../reporting/relations/catalogue.ts';
import { parseCursor } from '../../reporting/relations/cursor.ts';
import {
  differencesFilters,
  differencesParameters,
  listKeyColumns,
  readDifferences,
} from '../../reporting/relations/differences.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { type ListQuery, listFilterParameters, MAX_ROWS } from '../../reporting/relations/list-parameters.ts';
import type { Relation } from '../../reporting/relations/relation.ts';
import { rowsParameters } from '../../reporting/relations/row-query.ts';
import { readRows } from '../../reporting/relations/rows.ts';
import type { OperationName } from './one-page.ts';
import type { JsonSchema, Operation } from './operation.ts';
import { jsonSchema, pageSchema } from './schemas.ts';

/** Declares an operation that lists rows. */
export function rowsOperation(named: OperationName, relation: Relation): Operation {
  const { columns, parameters, name } = relation;
  const names = (parameters ?? []).map((one) => one.name);
  return {
    ...named,
    parameters: () => describeParameters(rowsParameters(relation), listFilterParameters(columns, names)),
    answer: pageSchema(name),
    prepare: (params) => {
      const query = validateParameters(rowsParameters(relation), params);
      const whole = params.limit === undefined;
      return {
        json: (sql) => readRows(sql, relation, query),
        csv: {
          columns: query.columns,
          page: async (sql, after) => {
            const { rows, next } = await readRows(sql, relation, pageOf(query, whole, after));
            const lines = rows.map((row) => query.columns.map((column) => row[column.name] ?? null));
            return { lines, next: whole ? next : null };
          },
        },
      };
    },
  };
}

/** Declares the operation that lists the differences of a dataset between two moments. */
export function changesOperation(named: OperationName, dataset: DatasetRelations): Operation {
  const schema = differencesParameters(dataset);
  const keys = listKeyColumns(dataset);
  return {
    ...named,
    parameters: () => describeParameters(schema, differencesFilters(dataset)),
    answer: differencesSchema(),
    prepare: (params) => {
      const query = validateParameters(schema, params);
      const whole = params.limit === undefined;
      const columns = [
        { name: 'change', type: 'text' },
        ...query.order.columns.map(({ name }) => ({
          name,
          type: keys.find((one) => one.name === name)?.type ?? 'text',
        })),
        { name: 'differs', type: 'jsonb' },
        { name: 'before', type: 'jsonb' },
        { name: 'after', type: 'jsonb' },
      ];
      return {
        json: (sql) => readDifferences(sql, dataset, query),
        csv: {
          columns,
          page: async (sql, after) => {
            const { rows, next } = await readDifferences(sql, dataset, pageOf(query, whole, after));
            const lines = rows.map(({ change, key, differs, before, after }) => [
              change,
              ...query.order.columns.map(({ name }) => key[name] ?? null),
              differs,
              before,
              after,
            ]);
            return { lines, next: whole ? next : null };
          },
        },
      };
    },
  };
}

/**
 * Returns the query for one page of a CSV file.
 * @param whole whether the file contains all rows
 * @param after the cursor of the previous page; null for the first one
 */
const pageOf = <Query extends ListQuery>(query: Query, whole: boolean, after: string | null): Query => ({
  ...query,
  after: after === null ? query.after : parseCursor(after),
  limit: whole ? MAX_ROWS : query.limit,
});

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
