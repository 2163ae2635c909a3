import { queuesSeen } from '../../reports/queues.ts';
import { counter, gauge } from './family.ts';
import type { MetricPart } from './part.ts';

const jobs = gauge(
  'chain_recorder_queue_jobs',
  'Jobs in the queue as whoever holds the schedules saw it last: waiting (for their turn or their time) or active.',
  'recorder',
  'queue',
  'state',
);
const trouble = gauge(
  'chain_recorder_queue_unhealthy',
  '1 while nothing is taken out of the queue: it is paused, or gives no answer.',
  'recorder',
  'queue',
);
const looked = gauge(
  'chain_recorder_queue_seen_timestamp_seconds',
  'When the queue was last looked at, as Unix time.',
  'recorder',
  'queue',
);
const processes = gauge(
  'chain_recorder_processes',
  'Processes of up by state: running, outdated (a newer configuration is in place), or lost (no sign of life for 20 s).',
  'recorder',
  'state',
);
const seals = counter('chain_recorder_seals_total', 'Seals made.');
const sealedAt = gauge(
  'chain_recorder_last_seal_timestamp_seconds',
  'When the newest seal was made, as Unix time.',
);
const signed = gauge('chain_recorder_last_seal_signed', '1 where the newest seal is signed.');

const STATES = ['running', 'outdated', 'lost'] as const;

/** The queues and the processes that work. */
export const work: MetricPart = {
  name: 'work',
  about:
    'The queues and the processes, of all recorders in the database. A process that is lost is told of for a day, or until another one starts.',
  families: [jobs, trouble, looked, processes],
  reader:
    ({ sql }) =>
    async () => {
      const [queues, found] = await Promise.all([
        queuesSeen(sql),
        sql<{ recorder: string; state: string; count: number }[]>`
          select recorder, state, count(*)::float8 as count from reporting.processes
          where state <> 'stopped' and seen_at > now() - interval '1 day' group by 1, 2`,
      ]);
      const recorders = [...new Set(found.map(({ recorder }) => recorder))].sort();
      const counted = (recorder: string, state: string) =>
        found.find((one) => one.recorder === recorder && one.state === state)?.count ?? 0;
      return [
        ...queues.flatMap(({ recorder, queue, waiting, active, trouble: why, seen_at }) => [
          ...(waiting === null ? [] : [jobs.of(waiting, recorder, queue, 'waiting')]),
          ...(active === null ? [] : [jobs.of(active, recorder, queue, 'active')]),
          trouble.of(why === null ? 0 : 1, recorder, queue),
          looked.of(seen_at.getTime() / 1000, recorder, queue),
        ]),
        ...recorders.flatMap((recorder) =>
          STATES.map((state) => processes.of(counted(recorder, state), recorder, state)),
        ),
      ];
    },
};

/** The seals. */
export const sealing: MetricPart = {
  name: 'seals',
  about: 'The seals of the record. Up to when it is sealed: `chain_recorder_sealed_until_timestamp_seconds`.',
  families: [seals, sealedAt, signed],
  reader:
    ({ sql }) =>
    async () => {
      const [newest] = await sql<{ seal: number; sealed_at: Date; signed: boolean }[]>`
        select seal, sealed_at, signature is not null as signed from reporting.seal_heads order by seal desc limit 1`;
      if (!newest) return [seals.of(0)];
      return [
        seals.of(newest.seal),
        sealedAt.of(newest.sealed_at.getTime() / 1000),
        signed.of(newest.signed ? 1 : 0),
      ];
    },
};
