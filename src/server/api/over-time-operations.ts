import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import type { ReadableDataset } from '../../reporting/relations/catalogue.ts';
import { coverageParameters, readCoverage } from '../../reporting/relations/coverage-days.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { listFilterParameters } from '../../reporting/relations/list-parameters.ts';
import { readSeries, type SeriesSource, seriesParameters } from '../../reporting/relations/series.ts';
import { describeParameters } from './list-operations.ts';
import { createSinglePage, csvColumns, type OperationName } from './one-page.ts';
import type { Operation } from './operation.ts';
import { jsonSchema } from './schemas.ts';

const coverage = z.strictObject({
  from: z.string(),
  to: z.string(),
  days: z.array(
    z.strictObject({
      day: z.string(),
      state: z.enum(['covered', 'partial', 'gap', 'none']).meta({
        description:
          'covered: nothing is missing; partial: a part is; gap: all is; none: nothing was recorded or expected.',
      }),
      covered_ms: z
        .number()
        .meta({ description: 'Milliseconds that are recorded, summed over the targets.' }),
      missing_ms: z.number().meta({ description: 'Milliseconds that are missing, summed over the targets.' }),
      targets: z.int().meta({ description: 'Targets of which something is recorded or missing.' }),
      reasons: z
        .array(z.strictObject({ reason: z.string(), missing_ms: z.number() }))
        .meta({ description: 'Why something is missing. "not recorded yet" can still be fetched.' }),
    }),
  ),
  heights: z
    .array(
      z.strictObject({
        target: z.string(),
        first_height: z.number(),
        end_height: z.number().nullable(),
        reason: z.string(),
      }),
    )
    .meta({ description: 'Of what is recorded by heights: ranges, recorded or missing and why.' }),
});

/** Declares the operation that reports the coverage of a dataset by day. */
export function coverageOperation(one: OperationName, dataset: ReadableDataset, clock: Clock): Operation {
  const schema = coverageParameters(clock);
  return {
    ...one,
    parameters: () => describeParameters(schema),
    answer: jsonSchema(coverage, 'output'),
    prepare: (params) => {
      const question = validateParameters(schema, params);
      return createSinglePage(
        csvColumns({
          day: 'date',
          state: 'text',
          covered_ms: 'bigint',
          missing_ms: 'bigint',
          targets: 'bigint',
          reasons: 'jsonb',
        }),
        (sql) => readCoverage(sql, dataset, question),
        ({ days }) =>
          days.map(({ day, state, covered_ms, missing_ms, targets, reasons }) => [
            day,
            state,
            covered_ms,
            missing_ms,
            targets,
            reasons.map((reason) => ({ ...reason })),
          ]),
      );
    },
  };
}

const series = z.strictObject({
  column: z.string(),
  time: z.string(),
  points: z
    .array(z.tuple([z.string(), z.union([z.string(), z.number()])]))
    .meta({ description: 'Time and value, by time. Values are exact, as in rows.' }),
  of: z.int().meta({ description: 'Number of points in the window, as far as it was read.' }),
  thinned: z.boolean().meta({
    description: 'Points were omitted: of each part the first, last, least and greatest are returned.',
  }),
  unread_before: z.string().nullable().meta({
    description:
      'There were too many points to read in time: those before this time are neither returned nor counted. Use it as `to` to request them. Null: all were read.',
  }),
});

/** Declares the operation that returns numbers of a dataset over time. */
export function seriesOperation(
  one: OperationName,
  dataset: ReadableDataset,
  source: SeriesSource,
  clock: Clock,
): Operation {
  const others = ['column', 'time', 'from', 'to', 'buckets'];
  return {
    ...one,
    parameters: () =>
      describeParameters(seriesParameters(source), listFilterParameters(source.readable.columns, others)),
    answer: jsonSchema(series, 'output'),
    prepare: (params) => {
      const question = validateParameters(seriesParameters(source), params);
      return createSinglePage(
        [
          { name: question.time, type: 'timestamptz' },
          { name: question.column.name, type: question.column.type },
        ],
        (sql) => readSeries(sql, dataset, source, question, clock),
        ({ points }) => points,
      );
    },
  };
}
