import { z } from 'zod';
import type { Catalogue, DatasetRelations } from '../../reporting/relations/catalogue.ts';
import type { Relation } from '../../reporting/relations/relation.ts';
import { type SavedQuery, savedQueryParameters } from '../../reporting/reports/saved-queries.ts';
import type { Status } from '../../reporting/reports/status.ts';
import { fixedOperation, type Operation, type OperationName } from './operation.ts';
import { jsonSchema } from './schemas.ts';

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
export const datasetsOperation = (one: OperationName, catalogue: Catalogue): Operation =>
  fixedOperation(one, jsonSchema(datasets, 'output'), {
    columns: ['name', 'dataset', 'about', 'kind', 'key', 'every_ms', 'freshness'],
    read: async (sql) => {
      const rows = await sql<({ dataset: string } & z.output<typeof freshness>)[]>`
        select dataset, targets::int, late::int, failing::int, incomplete::int, unsupported::int,
          to_char(oldest_success_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as oldest_success_at,
          to_char(newest_success_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as newest_success_at,
          rows_written::text
        from reporting.freshness_by_dataset`;
      const fresh = new Map(rows.map(({ dataset, ...rest }) => [dataset, rest]));
      return {
        datasets: [...catalogue.datasets.values()].map((dataset) => ({
          ...describeDataset(dataset),
          freshness: fresh.get(dataset.name) ?? null,
        })),
      };
    },
    rows: (answer) => answer.datasets,
  });

const describeDataset = ({ name, about, kind, key, every, now }: DatasetRelations) => ({
  name: now.name,
  dataset: name,
  about,
  kind,
  key,
  every_ms: every,
});

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
  const { name, now, history } = from;
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
    ...describeDataset(from),
    columns: describeColumns(now.columns),
    history_columns: describeColumns(history?.columns ?? []),
    views,
  };
  return fixedOperation(one, jsonSchema(dataset, 'output'), {
    columns: ['name', 'type', 'meaning', 'nullable'],
    read: async () => answer,
    rows: ({ columns }) => columns,
  });
}

const parameters = z.array(
  z.strictObject({ name: z.string(), type: z.string(), meaning: z.string(), needed: z.boolean() }),
);
const views = z.strictObject({
  views: z.array(z.strictObject({ name: z.string(), about: z.string(), parameters })),
});

const parametersOf = (declared: Relation['parameters']) =>
  (declared ?? []).map(({ name, type, comment, preset }) => ({
    name,
    type,
    meaning: comment,
    needed: preset === undefined,
  }));

/** Declares the operation that lists all views and all functions that return rows. */
export function viewsOperation(one: OperationName, catalogue: Catalogue): Operation {
  const answer = {
    views: [...catalogue.views.values()].map(({ name, about, parameters }) => ({
      name,
      about,
      parameters: parametersOf(parameters),
    })),
  };
  return fixedOperation(one, jsonSchema(views, 'output'), {
    columns: ['name', 'about', 'parameters'],
    read: async () => answer,
    rows: (answer) => answer.views,
  });
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
      parameters: parametersOf(savedQueryParameters(savedQuery)),
      examples: savedQuery.examples.map(({ text: words, values }) => ({ words, values })),
    })),
  };
  return fixedOperation(one, jsonSchema(questions, 'output'), {
    columns: ['name', 'about', 'parameters', 'examples'],
    read: async () => answer,
    rows: (answer) => answer.questions,
  });
}

export const statusOperation = (one: OperationName, status: () => Promise<Status>): Operation =>
  fixedOperation(
    one,
    {
      type: 'object',
      required: ['datasets', 'findings', 'budgets', 'quarantined', 'gaps', 'late_targets', 'failing_targets'],
    },
    {
      columns: ['dataset', 'targets', 'last_success_at', 'late_by', 'failing', 'incomplete', 'rows_today'],
      read: status,
      rows: ({ datasets }) => datasets.map((dataset) => ({ ...dataset })),
    },
  );
