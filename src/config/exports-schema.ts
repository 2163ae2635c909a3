import { z } from 'zod';
import { duration } from './duration-schema.ts';
import { parseExportDestination } from './export-place.ts';

/** Formats of exported files. */
export const EXPORT_FORMATS = ['parquet', 'csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const MIN_INTERVAL_MS = 60_000;

/**
 * Returns the schema of `exports` in `recorder.yaml`.
 * @param datasets names of all datasets
 */
export function exportsSchema(datasets: readonly string[]) {
  return z
    .array(
      z.strictObject({
        to: z
          .string()
          .refine(
            (text) => parseExportDestination(text) !== null,
            'must be a folder, or a bucket such as s3://my-bucket/recorder',
          )
          .meta({
            description:
              'A folder (a relative path starts at the working directory) or `s3://BUCKET/PREFIX`. Each export needs a destination of its own.',
            examples: ['s3://my-bucket/recorder'],
          }),
        datasets: z.array(z.enum(datasets)).nonempty().optional().meta({
          description: 'Exported datasets. `restore` needs an export of all.',
          absent: 'all',
        }),
        every: duration
          .prefault('1h')
          .refine((milliseconds) => milliseconds >= MIN_INTERVAL_MS, 'must be at least 1m')
          .describe('Interval of the exports; 1m or more.'),
        format: z.enum(EXPORT_FORMATS).default('parquet').describe('Format of the files.'),
      }),
    )
    .superRefine((all, context) => {
      const place = ({ to }: { to: string }) =>
        JSON.stringify(parseExportDestination(to.replace(/\/+$/, '')));
      all.forEach((one, at) => {
        if (all.findIndex((other) => place(other) === place(one)) < at)
          context.addIssue({
            code: 'custom',
            path: [at, 'to'],
            message: `"${one.to}" is the destination of another export: each export needs a destination of its own`,
          });
      });
    })
    .default([])
    .meta({ absent: 'no scheduled exports' });
}

/** Configuration of a scheduled export. */
export type ExportConfig = z.infer<ReturnType<typeof exportsSchema>>[number];
