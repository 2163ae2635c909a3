import type postgres from 'postgres';
import type { ActiveFeed } from '../recording/feed.ts';
import { targetKey } from '../recording/lease.ts';

/** What a feed's polls cost once it has caught up. */
export interface Forecast {
  readonly datasets: readonly string[];
  readonly upstream: string;
  readonly targets: number;
  /** Milliseconds between two polls of a target. */
  readonly every: number;
  /** Calls and budget units of one poll of all targets. */
  readonly callsPerRound: number;
  readonly unitsPerRound: number;
}

/**
 * What each schedule asks for: a target costs what its last whole poll cost (lists grow), or what its source declares
 * while it was never polled. Targets that the upstream does not offer, and answers that never change and are recorded
 * already, cost nothing.
 */
export async function forecast(sql: postgres.Sql, feeds: readonly ActiveFeed[]): Promise<Forecast[]> {
  const last = await sql<
    { source: string; target_key: string; requests: number; not_offered: boolean; recorded: boolean }[]
  >`
    select t.source, t.target_key, t.not_offered is not null as not_offered, t.last_success_at is not null as recorded,
      coalesce((select r.requests from recorder.runs r
        where r.source = t.source and r.target_key = t.target_key and r.reason = 'poll' and r.status = 'done'
        order by r.run_id desc limit 1), -1) as requests
    from recorder.targets t`;
  const known = new Map(last.map((row) => [`${row.source} ${row.target_key}`, row]));
  return feeds
    .filter(({ targets }) => targets.length > 0)
    .map(({ source, datasets, targets, every }) => {
      const calls = targets.map((target) => {
        const row = known.get(`${source.name} ${targetKey(target)}`);
        if (row?.not_offered || (source.once && row?.recorded)) return 0;
        return row && row.requests >= 0 ? row.requests : source.calls;
      });
      const callsPerRound = calls.reduce((sum, count) => sum + count, 0);
      return {
        datasets: datasets.map(({ name }) => name),
        upstream: source.upstream,
        targets: targets.length,
        every,
        callsPerRound,
        unitsPerRound: callsPerRound * source.weight,
      };
    });
}
