import { counter, gauge } from './family.ts';
import type { MetricPart } from './part.ts';

const lag = gauge(
  'chain_recorder_change_sink_lag_seconds',
  'How long the first change waits that the sink has not taken; 0: it has all.',
  'recorder',
  'sink',
);
const failing = gauge(
  'chain_recorder_change_sink_failing',
  '1 while the sink takes no changes.',
  'recorder',
  'sink',
);
const sent = counter(
  'chain_recorder_change_sink_sent_total',
  'How many changes the sink took.',
  'recorder',
  'sink',
);

/** How far those are who are sent changes. */
export const changeSinks: MetricPart = {
  name: 'changes',
  about: 'How far each [sink of the change feed](feed.md) is.',
  families: [lag, failing, sent],
  reader:
    ({ sql }) =>
    async () => {
      const rows = await sql<
        { recorder: string; sink: string; lag: number; failing: boolean; sent: number }[]
      >`
        select recorder, sink, coalesce(greatest(0, extract(epoch from now() - waiting_since)), 0)::float8 as lag,
          failing_since is not null as failing, sent::float8 as sent
        from reporting.change_sinks order by 1, 2`;
      return rows.flatMap((one) => [
        lag.of(one.lag, one.recorder, one.sink),
        failing.of(one.failing ? 1 : 0, one.recorder, one.sink),
        sent.of(one.sent, one.recorder, one.sink),
      ]);
    },
};
