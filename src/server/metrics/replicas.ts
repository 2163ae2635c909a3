import { gauge } from './family.ts';
import type { MetricPart } from './part.ts';

const reachable = gauge(
  'chain_recorder_replica_readable',
  '1 while the replica gives answers and is a copy of the primary, else 0.',
  'place',
);
const seconds = gauge(
  'chain_recorder_replica_lag_seconds',
  'How far it is behind the primary, exact to about five seconds; no sample: that cannot be told.',
  'place',
);
const bytes = gauge(
  'chain_recorder_replica_lag_bytes',
  'The WAL of the primary that it has not replayed, in bytes; no sample: that cannot be told.',
  'place',
);

/** The replicas that are read in place of the primary. */
export const replicas: MetricPart = {
  name: 'replicas',
  about:
    'The replicas that pages, reports and exports read from (`REPORTING_DATABASE_URL`), as a process that reads there saw each within the last minute.',
  families: [reachable, seconds, bytes],
  reader:
    ({ status }) =>
    async () =>
      (await status()).replicas.flatMap(({ place, trouble, lag_seconds, lag_bytes }) => [
        reachable.of(trouble === null ? 1 : 0, place),
        ...(lag_seconds === null ? [] : [seconds.of(lag_seconds, place)]),
        ...(lag_bytes === null ? [] : [bytes.of(lag_bytes, place)]),
      ]),
};
