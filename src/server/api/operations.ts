import type { Clock } from '../../lib/clock.ts';
import type { Catalogue } from '../../reporting/relations/catalogue.ts';
import { FEED, feedParameters, readFeed } from '../../reporting/relations/feed.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { MAX_ROWS } from '../../reporting/relations/list-parameters.ts';
import type { Relation } from '../../reporting/relations/relation.ts';
import { findSeriesSource } from '../../reporting/relations/series.ts';
import { savedQueries, type Values } from '../../reporting/reports/saved-queries.ts';
import type { Status } from '../../reporting/reports/status.ts';
import {
  datasetOperation,
  datasetsOperation,
  questionsOperation,
  statusOperation,
  viewsOperation,
} from './catalogue-operations.ts';
import { changesOperation, describeParameters, rowsOperation } from './list-operations.ts';
import type { JsonSchema, Operation, OperationName } from './operation.ts';
import { coverageOperation, seriesOperation } from './over-time-operations.ts';
import { pageSchema } from './schemas.ts';

export interface OperationsContext {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly status: () => Promise<Status>;
  /** Parameters from the configuration, for saved queries that have parameters of these names. */
  readonly defaults: Values;
}

/** Returns all operations, by path below `/api/v1`. */
export function operationsOf({
  catalogue,
  clock,
  status,
  defaults,
}: OperationsContext): ReadonlyMap<string, Operation> {
  const all = savedQueries().flatMap((part) => part.queries);
  const operations = [
    statusOperation(
      { path: '/status', id: 'status', tag: 'recording', summary: 'The state of the recording.' },
      status,
    ),
    datasetsOperation(
      {
        path: '/datasets',
        id: 'datasets',
        tag: 'datasets',
        summary: 'All datasets and their freshness.',
      },
      catalogue,
    ),
    ...[...catalogue.datasets.values()].flatMap((dataset): Operation[] => {
      const { about, now, history } = dataset;
      const { name } = now;
      const at = (path: string, what: string, summary: string) => ({
        path: `/datasets/${name}${path}`,
        id: `${name}${what}`,
        tag: 'datasets' as const,
        summary: `${summary} ${about}`,
      });
      const series = findSeriesSource(dataset);
      return [
        datasetOperation(at('', '', 'Columns and their meaning.'), dataset, catalogue),
        rowsOperation(at('/rows', '_rows', 'Rows, now or as of a moment.'), now),
        rowsOperation(at('/rows/history', '_rows_history', 'Every version of every row.'), history ?? now),
        changesOperation(at('/changes', '_differences', 'Differences between two moments.'), dataset),
        coverageOperation(at('/coverage', '_coverage_by_day', 'Coverage by day.'), dataset, clock),
        ...(series
          ? [
              seriesOperation(
                at('/series', '_series', 'Points over time, downsampled.'),
                dataset,
                series,
                clock,
              ),
            ]
          : []),
      ];
    }),
    ...[...catalogue.views.values()]
      .filter(({ name }) => name === FEED)
      .map((feed) =>
        feedOperation(
          {
            path: '/changes',
            id: 'changes',
            tag: 'recording',
            summary: 'The change feed: every change of every dataset, after a cursor.',
          },
          feed,
        ),
      ),
    viewsOperation(
      {
        path: '/views',
        id: 'views',
        tag: 'views',
        summary: 'All views, and all functions that return rows.',
      },
      catalogue,
    ),
    ...[...catalogue.views.values()].map((view) => {
      const { name, about } = view;
      const operation = name === FEED ? feedOperation : rowsOperation;
      return operation({ path: `/views/${name}`, id: `view_${name}`, tag: 'views', summary: about }, view);
    }),
    questionsOperation(
      {
        path: '/questions',
        id: 'questions',
        tag: 'questions',
        summary: 'All saved queries, with examples.',
      },
      all,
    ),
    ...all.flatMap(({ name, answer }): Operation[] => {
      const view = catalogue.views.get(answer.name);
      const id = `question_${answer.name}`;
      if (!view) return [];
      const question = rowsOperation(
        { path: `/questions/${name}`, id, tag: 'questions', summary: answer.comment },
        view,
      );
      const known = new Set(view.parameters?.map((one) => one.name));
      const configured = Object.fromEntries(Object.entries(defaults).filter(([one]) => known.has(one)));
      return [{ ...question, prepare: (params) => question.prepare({ ...configured, ...params }) }];
    }),
  ];
  return new Map(operations.map((operation) => [operation.path, operation]));
}

/**
 * Declares the operation of the change feed: the changes that were committed after a cursor.
 * @param relation `reporting.changes`
 */
function feedOperation(named: OperationName, { name, columns }: Relation): Operation {
  return {
    ...named,
    parameters: () => describeParameters(feedParameters),
    answer: feedSchema(name),
    prepare: (params) => {
      const query = validateParameters(feedParameters, params);
      const whole = params.limit === undefined;
      return {
        json: (sql) => readFeed(sql, columns, query),
        csv: {
          columns: columns.map((column) => column.name),
          page: async (sql, cursor) => {
            const { rows, next } = await readFeed(sql, columns, {
              after: cursor ?? query.after,
              limit: whole ? MAX_ROWS : query.limit,
            });
            return { rows, next: whole && rows.length > 0 ? next : null };
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
      'The value of `after` for the next request, also if there are no new changes. Null: no change has been recorded yet.',
  };
  return { ...page, properties: { ...Object(page.properties), next } };
}
