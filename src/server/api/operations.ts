import type { Clock } from '../../lib/clock.ts';
import type { Catalogue } from '../../reporting/relations/catalogue.ts';
import { findSeriesSource } from '../../reporting/relations/series.ts';
import { questions } from '../../reporting/reports/questions.ts';
import type { Status } from '../../reporting/reports/status.ts';
import {
  datasetOperation,
  datasetsOperation,
  questionsOperation,
  statusOperation,
  viewsOperation,
} from './catalogue-operations.ts';
import { feedOperation } from './feed-operation.ts';
import { changesOperation, rowsOperation } from './list-operations.ts';
import type { Operation } from './operation.ts';
import { coverageOperation, seriesOperation } from './over-time-operations.ts';

/** Dependencies of the API's operations. */
export interface OperationsContext {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly status: () => Promise<Status>;
}

/** Returns all operations, by path below `/api/v1`. */
export function operationsOf({
  catalogue,
  clock,
  status,
}: OperationsContext): ReadonlyMap<string, Operation> {
  const all = questions().flatMap((part) => part.questions);
  const operations = [
    statusOperation(
      { path: '/status', id: 'status', tag: 'recording', summary: 'How the recording stands.' },
      status,
    ),
    datasetsOperation(
      {
        path: '/datasets',
        id: 'datasets',
        tag: 'datasets',
        summary: 'All datasets, and how fresh they are.',
      },
      catalogue,
    ),
    ...[...catalogue.datasets.values()].flatMap((dataset): Operation[] => {
      const { name, about, now, history } = dataset;
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
        changesOperation(at('/changes', '_differences', 'What changed between two moments.'), dataset),
        coverageOperation(at('/coverage', '_coverage_by_day', 'How each day stands.'), dataset, clock),
        ...(series
          ? [
              seriesOperation(
                at('/series', '_series', 'Points over time, thinned out.'),
                dataset,
                series,
                clock,
              ),
            ]
          : []),
      ];
    }),
    ...[...catalogue.views.values()]
      .filter(({ name }) => name === 'changes')
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
    ...[...catalogue.views.values()].map((view) =>
      rowsOperation(
        { path: `/views/${view.name}`, id: `view_${view.name}`, tag: 'views', summary: view.about },
        view,
      ),
    ),
    questionsOperation(
      {
        path: '/questions',
        id: 'questions',
        tag: 'questions',
        summary: 'All ready questions, with examples.',
      },
      all,
    ),
    ...all.flatMap(({ name, answer }) => {
      const view = catalogue.views.get(answer.name);
      const id = `question_${answer.name}`;
      if (!view) return [];
      return [
        rowsOperation({ path: `/questions/${name}`, id, tag: 'questions', summary: answer.comment }, view),
      ];
    }),
  ];
  return new Map(operations.map((operation) => [operation.path, operation]));
}
