import { gauge } from './family.ts';
import type { MetricPart } from './part.ts';

const until = gauge(
  'chain_recorder_exported_until_timestamp_seconds',
  'Up to when the record is exported there, as Unix time; no sample: never.',
  'recorder',
  'place',
);
const interval = gauge(
  'chain_recorder_export_interval_seconds',
  'How often it is to be exported there.',
  'recorder',
  'place',
);
const failures = gauge(
  'chain_recorder_export_failures',
  'How many exports there failed in a row; 0: the last one succeeded.',
  'recorder',
  'place',
);
const rows = gauge(
  'chain_recorder_export_rows',
  'Rows that the last export wrote there.',
  'recorder',
  'place',
);
const bytes = gauge(
  'chain_recorder_export_bytes',
  'Bytes that the last export wrote there.',
  'recorder',
  'place',
);

interface Row {
  readonly recorder: string;
  readonly place: string;
  readonly every: number;
  readonly until: number | null;
  readonly failures: number;
  readonly rows: number | null;
  readonly bytes: number | null;
}

/** The exports by schedule. */
export const exporting: MetricPart = {
  name: 'exports',
  about: 'The exports by schedule (`exports` in recorder.yaml), of all recorders in the database.',
  families: [until, interval, failures, rows, bytes],
  reader:
    ({ sql }) =>
    async () => {
      const found = await sql<Row[]>`
        select recorder, place, extract(epoch from expected_every)::float8 as every, extract(epoch from exported_at)::float8 as until,
          failures::float8 as failures, rows::float8 as rows, bytes::float8 as bytes from reporting.exports`;
      return found.flatMap((one) => [
        interval.of(one.every, one.recorder, one.place),
        failures.of(one.failures, one.recorder, one.place),
        ...(one.until === null ? [] : [until.of(one.until, one.recorder, one.place)]),
        ...(one.rows === null ? [] : [rows.of(one.rows, one.recorder, one.place)]),
        ...(one.bytes === null ? [] : [bytes.of(one.bytes, one.recorder, one.place)]),
      ]);
    },
};
