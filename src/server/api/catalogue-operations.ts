import { z } from 'zod';
import type { Catalogue, DatasetRelations } from '../../reporting/relations/catalogue.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { type SavedQuery, savedQueryParameters } from '../../reporting/reports/saved-queries.ts';
import type { Status } from '../../reporting/reports/status.ts';
import { createSinglePage, csvColumns, type OperationName } from './one-page.ts';
import type { Operation } from './operation.ts';
import { jsonSchema } from './schemas.ts';

/** The schema of a request without parameters. */
const noParameters = z.strictObject(
  {},
  { error: ({ code }) => (code === 'unrecognized_keys' ? ONLY_FORMAT : undefined) },
);
const ONLY_FORMAT = 'the only parameter of this operation is format';

const freshness = z.strictObject({
  targets: z.number(),
  late: z.number(),
  failing: z.number(),
  incomplete: z.number(),
  unsupported: z.number(),
  oldest_success_at: z.string().nullable(),
  newest_success_at: z.string().nullable(),
  rows_written: z.string(),
});
const datasetName = z.string().meta({
  description: 'The name of the dataset in commands, in the configuration and in columns named dataset.',
});
const datasets = z.strictObject({
  datasets: z.array(
    z.strictObject({
      name: z.string(),
      dataset: datasetName,
      about: z.string(),
      kind: z.enum(['series', 'log', 'state', 'sample', 'ledger']),
      key: z.array(z.string()),
      every_ms: z.number(),
      freshness: freshness.nullable().meta({ description: 'Null: the dataset is not recorded.' }),
    }),
  ),
});

/** Declares the operation that lists all datasets with their freshness. */
export function datasetsOperation(one: OperationName, catalogue: Catalogue): Operation {
  return {
    ...one,
    parameters: () => new Map(),
    answer: jsonSchema(datasets, 'output'),
    prepare: (params) => {
      validateParameters(noParameters, params);
      return createSinglePage(
        csvColumns({
          name: 'text',
          dataset: 'text',
          about: 'text',
          kind: 'text',
          key: 'text[]',
          every_ms: 'bigint',
          freshness: 'jsonb',
        }),
        async (sql) => {
          const rows = await sql<({ dataset: string } & z.output<typeof freshness>)[]>`
            select dataset, targets::int, late::int, failing::int, incomplete::int, unsupported::int,
              to_char(oldest_success_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as oldest_success_at,
              to_char(newest_success_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as newest_success_at,
              rows_written::text
            from reporting.freshness_by_dataset`;
          const fresh = new Map(rows.map(({ dataset, ...rest }) => [dataset, rest]));
          return {
            datasets: [...catalogue.datasets.values()].map(({ name, about, kind, key, every, now }) => ({
              name: now.name,
              dataset: name,
              about,
              kind,
              key,
              every_ms: every,
              freshness: fresh.get(name) ?? null,
            })),
          };
        },
        (answer) =>
          answer.datasets.map(({ name, dataset, about, kind, key, every_ms, freshness }) => [
            name,
            dataset,
            about,
            kind,
            key,
            every_ms,
            freshness,
          ]),
      );
    },
  };
}

const columns = z.array(
  z.strictObject({
    name: z.string(),
    type: z.string().meta({ description: 'The PostgreSQL type.' }),
    meaning: z.string(),
    nullable: z.boolean(),
  }),
);
const dataset = z.strictObject({
  name: z.string(),
  dataset: datasetName,
  about: z.string(),
  kind: z.string(),
  key: z.array(z.string()),
  every_ms: z.number(),
  columns,
  history_columns: columns,
  views: z.array(z.strictObject({ name: z.string(), about: z.string() })),
});

/**
 * Declares the operation that returns the columns of a dataset, their meaning, and the views of the dataset.
 */
export function datasetOperation(
  one: OperationName,
  from: DatasetRelations,
  catalogue: Catalogue,
): Operation {
  const { name, about, kind, key, every, now, history } = from;
  const describeColumns = (all: DatasetRelations['now']['columns']) =>
    all.map((column) => ({
      name: column.name,
      type: column.type,
      meaning: column.comment,
      nullable: !column.notNull,
    }));
  const longer = [...catalogue.datasets.keys()].filter((other) => other.startsWith(`${now.name}_`));
  const merged = [name, `${name}_as_of`].filter(() => name !== now.name);
  const views = [...catalogue.views.values()]
    .filter((view) => view.name.startsWith(`${now.name}_`) || merged.includes(view.name))
    .filter((view) => !longer.some((other) => view.name === other || view.name.startsWith(`${other}_`)))
    .map((view) => ({ name: view.name, about: view.about }));
  const answer = {
    name: now.name,
    dataset: name,
    about,
    kind,
    key: [...key],
    every_ms: every,
    columns: describeColumns(now.columns),
    history_columns: describeColumns(history?.columns ?? []),
    views,
  };
  return {
    ...one,
    parameters: () => new Map(),
    answer: jsonSchema(dataset, 'output'),
    prepare: (params) => {
      validateParameters(noParameters, params);
      return createSinglePage(
        csvColumns({ name: 'text', type: 'text', meaning: 'text', nullable: 'boolean' }),
        async () => answer,
        (answer) =>
          answer.columns.map((column) => [column.name, column.type, column.meaning, column.nullable]),
      );
    },
  };
}

const parameters = z.array(
  z.strictObject({ name: z.string(), type: z.string(), meaning: z.string(), needed: z.boolean() }),
);
const views = z.strictObject({
  views: z.array(z.strictObject({ name: z.string(), about: z.string(), parameters })),
});

/** Declares the operation that lists all views and all functions that return rows. */
export function viewsOperation(one: OperationName, catalogue: Catalogue): Operation {
  const answer = {
    views: [...catalogue.views.values()].map(({ name, about, parameters }) => ({
      name,
      about,
      parameters: (parameters ?? []).map((each) => ({
        name: each.name,
        type: each.type,
        meaning: each.comment,
        needed: each.preset === undefined,
      })),
    })),
  };
  return {
    ...one,
    parameters: () => new Map(),
    answer: jsonSchema(views, 'output'),
    prepare: (params) => {
      validateParameters(noParameters, params);
      return createSinglePage(
        csvColumns({ name: 'text', about: 'text', parameters: 'jsonb' }),
        async () => answer,
        (answer) => answer.views.map((view) => [view.name, view.about, view.parameters]),
      );
    },
  };
}

const questions = z.strictObject({
  questions: z.array(
    z.strictObject({
      name: z.string(),
      about: z.string(),
      parameters,
      examples: z.array(z.strictObject({ words: z.string(), values: z.record(z.string(), z.string()) })),
    }),
  ),
});

/** Declares the operation that lists all predefined queries, with examples. */
export function questionsOperation(one: OperationName, all: readonly SavedQuery[]): Operation {
  const answer = {
    questions: all.map((savedQuery) => ({
      name: savedQuery.name,
      about: savedQuery.answer.comment,
      parameters: savedQueryParameters(savedQuery).map(({ name, type, comment, preset }) => ({
        name,
        type,
        meaning: comment,
        needed: preset === undefined,
      })),
      examples: savedQuery.examples.map(({ text: words, values }) => ({ words, values: { ...values } })),
    })),
  };
  return {
    ...one,
    parameters: () => new Map(),
    answer: jsonSchema(questions, 'output'),
    prepare: (params) => {
      validateParameters(noParameters, params);
      return createSinglePage(
        csvColumns({ name: 'text', about: 'text', parameters: 'jsonb', examples: 'jsonb' }),
        async () => answer,
        (answer) => answer.questions.map((each) => [each.name, each.about, each.parameters, each.examples]),
      );
    },
  };
}

/** Declares the operation that reports the state of the recording. */
export function statusOperation(one: OperationName, status: () => Promise<Status>): Operation {
  const columns = [
    'dataset',
    'targets',
    'last_success_at',
    'late_by',
    'failing',
    'incomplete',
    'rows_today',
  ] as const;
  return {
    ...one,
    parameters: () => new Map(),
    answer: {
      type: 'object',
      required: ['datasets', 'findings', 'budgets', 'quarantined', 'gaps', 'late_targets', 'failing_targets'],
    },
    prepare: (params) => {
      validateParameters(noParameters, params);
      return createSinglePage(
        columns.map((name) => ({ name, type: name === 'dataset' ? 'text' : 'numeric' })),
        status,
        ({ datasets }) =>
          datasets.map((each) =>
            columns.map((name) => {
              const value = each[name];
              return value instanceof Date ? value.toISOString() : value;
            }),
          ),
      );
    },
  };
}
