import type postgres from 'postgres';
import { nextWindow } from '../../../sandbox/metrics/calendar.ts';
import { METRICS, type Metric } from '../../../sandbox/metrics/names.ts';
import type { Sandbox } from '../../../sandbox/server.ts';
import { metricIntervals } from '../../../src/datasets/metrics/metric-points.ts';
import { makeSeriesOf } from '../../support/points.ts';

const HOUR = 3_600;
const DAY = 86_400;
/** Age after which no value of the sandbox changes any more. */
const STILL_MOVING = 7 * DAY;

type Interval = 'hour' | 'day' | 'week' | 'month';

/** Returns a value as of a response time; null: there is no point. */
export type Alter = (
  metric: Metric,
  interval: Interval,
  start: number,
  value: number,
  at: number,
) => number | null;

/** Times at which a series was polled (Unix seconds), in order. */
export type Polls = (metric: Metric, interval: Interval) => readonly number[];

/** Returns a number of [0, 1) derived from a text. */
export function chance(text: string): number {
  let hash = 2_166_136_261;
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_507);
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 4_294_967_296;
}

interface Version {
  readonly value: number;
  readonly from: number;
  to: number | null;
  vanished: boolean;
}

/**
 * Writes the rows that a recorder would store of a chain's metrics after polls at given times: each point with its
 * versions, as `series` keeps them. The values are those of the sandbox, changed by `alter`. Each poll requests the
 * points that may still change; the first one requests all.
 * @param from the first requested second
 */
export async function recordYear(
  sql: postgres.Sql,
  sandbox: Sandbox,
  chain: string,
  from: number,
  polls: Polls,
  alter: Alter = (_metric, _interval, _start, value) => value,
): Promise<void> {
  await makeSeriesOf(sql);
  for (const metric of METRICS) {
    for (const interval of metricIntervals[metric] ?? []) {
      if (interval !== 'hour' && interval !== 'day' && interval !== 'week' && interval !== 'month') continue;
      const moments = polls(metric, interval);
      const points = new Map<number, Version[]>();
      let requestedFrom = from;
      for (const at of moments) {
        const reported = new Map(
          sandbox.metrics
            .points(chain, metric, interval, { from: requestedFrom, to: at, limit: 100_000 }, at)
            .flatMap(([start, value]) => {
              const altered = alter(metric, interval, start, value, at);
              return altered === null ? [] : [[start, altered] as const];
            }),
        );
        for (const [start, versions] of points) {
          const last = versions.at(-1);
          if (start >= requestedFrom && last && !reported.has(start) && last.to === null)
            Object.assign(last, { to: at, vanished: true });
        }
        for (const [start, value] of reported) {
          const versions = points.get(start) ?? [];
          points.set(start, versions);
          const last = versions.at(-1);
          if (last?.to === null && last.value === value) continue;
          if (last) Object.assign(last, { to: last.to ?? at, vanished: false });
          versions.push({ value, from: at, to: null, vanished: false });
        }
        const oldest = at - STILL_MOVING;
        requestedFrom = Math.max(
          from,
          oldest - (nextWindow(interval, oldest) - oldest) - 31 * DAY * Number(interval === 'month'),
        );
      }
      const rows = [...points].flatMap(([start, versions]) =>
        versions.map(({ value, from: since, to, vanished }) => [start, String(value), since, to, vanished]),
      );
      await sql`
        insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, vanished, run_id)
        select (select public.series_of(${chain}, ${metric}, ${interval})), to_timestamp((r ->> 0)::float8), (r ->> 1)::numeric, to_timestamp((r ->> 2)::float8),
          to_timestamp((r ->> 3)::float8), (r ->> 4)::boolean, 1
        from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) as r`;
      const target = { chainId: chain, metric, timeInterval: interval };
      const key = `chainId=${chain} metric=${metric} timeInterval=${interval}`;
      await sql`insert into recorder.targets (source, target_key, target) values ('metric-points', ${key}, ${sql.json(target)})`;
      const last = new Date((moments.at(-1) ?? 0) * 1000);
      await sql`
        insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, last_success_at, last_complete_at)
        values ('metric-points', ${key}, 'metric_points', 3600000, true, ${new Date(from * 1000)}, ${last}, ${last})`;
    }
  }
}

/**
 * Polls every few hours, each series separately: some fail, the recorder is off for a day or some now and then, and two
 * series are never polled at the same second.
 */
export function untidyPolls(from: number, to: number, every = 6 * HOUR): Polls {
  return (metric, interval) => {
    const moments: number[] = [];
    for (let at = from; at < to; at += every) {
      const off = chance(`off ${Math.floor(at / (5 * DAY))}`) < 0.12;
      const failed = chance(`failed ${metric} ${interval} ${at}`) < 0.08;
      if (off || failed) continue;
      moments.push(at + Math.floor(chance(`late ${metric} ${interval} ${at}`) * 1_800));
    }
    return moments;
  };
}
