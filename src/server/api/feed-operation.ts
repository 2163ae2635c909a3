import { feedParameters, readFeed } from '../../reporting/relations/feed.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { MAX_ROWS } from '../../reporting/relations/list-parameters.ts';
import type { ReportingRelation } from '../../reporting/relations/readable.ts';
import { describeParameters } from './list-operations.ts';
import type { OperationName } from './one-page.ts';
import type { JsonSchema, Operation } from './operation.ts';
import { pageSchema } from './schemas.ts';

/**
 * Declares the operation of the change feed: the changes that were committed after a cursor.
 * @param readable `reporting.changes`
 */
export function feedOperation(named: OperationName, { name, columns }: ReportingRelation): Operation {
  return {
    ...named,
    parameters: () => describeParameters(feedParameters),
    answer: feedSchema(name),
    prepare: (given) => {
      const question = validateParameters(feedParameters, given);
      const whole = given.limit === undefined;
      return {
        json: (sql) => readFeed(sql, columns, question),
        csv: {
          columns,
          page: async (sql, cursor) => {
            const { rows, next } = await readFeed(sql, columns, {
              after: cursor ?? question.after,
              limit: whole ? MAX_ROWS : question.limit,
            });
            const lines = rows.map((row) => columns.map((column) => row[column.name] ?? null));
            return { lines, next: whole && rows.length > 0 ? next : null };
          },
        },
      };
    },
  };
}

function feedSchema(name: string): JsonSchema {
  const page = pageSchema(name);
  const next = {
    type: ['string', 'null'],
    description:
      'The cursor to continue after, also where nothing is new; null: there is no change at all yet. No rows: nothing is new.',
  };
  return { ...page, properties: { ...Object(page.properties), next } };
}
