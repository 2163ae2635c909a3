import { z } from 'zod';
import type { Clock } from '../../lib/clock.ts';
import type { DatasetRelations } from '../../reporting/relations/catalogue.ts';
import {
  coverageParameters,
  MAX_HEIGHT_RANGES,
  readCoverage,
} from '../../reporting/relations/coverage-days.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import { listFilterParameters } from '../../reporting/relations/list-parameters.ts';
import { readSeries, type SeriesSource, seriesParameters } from '../../reporting/relations/series.ts';
import { describeParameters } from './list-operations.ts';
import { createSinglePage, type Operation, type OperationName } from './operation.ts';
import { jsonSchema } from './schemas.ts';

const coverage = z.strictObject({
  from: z.string(),
  to: z.string(),
  days: z.array(
    z.strictObject({
      day: z.string(),
      state: z.enum(['covered', 'partial', 'gap', 'none']).meta({
        description:
          'covered: nothing is missing; partial: a part is missing; gap: everything is missing; none: nothing was recorded or expected.',
      }),
      covered_ms: z.number().meta({ description: 'Recorded time in ms, summed over the targets.' }),
      missing_ms: z.number().meta({ description: 'Missing time in ms, summed over the targets.' }),
      targets: z.int().meta({ description: 'Number of targets with recorded or missing data.' }),
      reasons: z.array(z.strictObject({ reason: z.string(), missing_ms: z.number() })).meta({
        description:
          'Reasons for missing data. Data with the reason "not recorded yet" can still be fetched.',
      }),
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
    .meta({
      description: `For data recorded by height: the recorded and missing ranges, with reasons. At most ${MAX_HEIGHT_RANGES}; the views \`coverage\` and \`gaps\` have all.`,
    }),
});

/** Declares the operation that reports the coverage of a dataset by day. */
export function coverageOperation(one: OperationName, dataset: DatasetRelations, clock: Clock): Operation {
  const schema = coverageParameters(clock);
  return {
    ...one,
    parameters: () => describeParameters(schema),
    answer: jsonSchema(coverage, 'output'),
    prepare: (params) => {
      const query = validateParameters(schema, params);
      return createSinglePage({
        columns: ['day', 'state', 'covered_ms', 'missing_ms', 'targets', 'reasons'],
        read: (sql) => readCoverage(sql, dataset, query),
        rows: ({ days }) => days.map((day) => ({ ...day })),
      });
    },
  };
}

const series = z.strictObject({
  column: z.string(),
  time: z.string(),
  points: z
    .array(z.tuple([z.string(), z.union([z.string(), z.number()])]))
    .meta({ description: 'Pairs of time and value, ordered by time. Values are exact, as in rows.' }),
  of: z.int().meta({ description: 'Number of points in the part of the window that was read.' }),
  thinned: z.boolean().meta({
    description:
      'True if points were omitted: for each part, only the first, last, minimum and maximum points are returned.',
  }),
  unread_before: z.string().nullable().meta({
    description:
      'Too many points to read in time: points before this time are neither returned nor counted. Request them with this time as `to`. Null: all points were read.',
  }),
});

/** Declares the operation that returns numbers of a dataset over time. */
export function seriesOperation(
  one: OperationName,
  dataset: DatasetRelations,
  source: SeriesSource,
  clock: Clock,
): Operation {
  const others = ['column', 'time', 'from', 'to', 'buckets'];
  return {
    ...one,
    parameters: () =>
      describeParameters(seriesParameters(source), listFilterParameters(source.relation.columns, others)),
    answer: jsonSchema(series, 'output'),
    prepare: (params) => {
      const query = validateParameters(seriesParameters(source), params);
      return createSinglePage({
        columns: [query.time, query.column.name],
        read: (sql) => readSeries(sql, dataset, source, query, clock),
        rows: ({ points }) => points.map(([at, value]) => ({ [query.time]: at, [query.column.name]: value })),
      });
    },
  };
}
