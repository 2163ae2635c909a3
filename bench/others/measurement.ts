import type postgres from 'postgres';
import { childrenOf } from '../../chaos/processes.ts';
import { median } from '../median.ts';
import { processorTime } from '../pages/processor.ts';

const TIMES = 20;

/** Runs the same query of several programs, alternately. @returns the median of each, ms */
export async function measureAlternately(
  queries: Readonly<Record<string, () => PromiseLike<unknown>>>,
): Promise<Map<string, number>> {
  const all = Object.entries(queries);
  const times = new Map<string, number[]>(all.map(([name]) => [name, []]));
  for (const [, query] of all) await query();
  for (let turn = 0; turn < TIMES; turn += 1)
    for (const [name, query] of all) {
      const startedAt = performance.now();
      await query();
      times.get(name)?.push(performance.now() - startedAt);
    }
  return new Map([...times].map(([name, durations]) => [name, median(durations)]));
}

/** Processor time of a PostgreSQL server on this machine and of its open connections, ms. On Linux only. */
export async function serverTime(sql: postgres.Sql): Promise<number> {
  const [server] = await sql<{ pid: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int as pid`;
  return programsTime(await childrenOf(server?.pid ?? 0));
}

/** Processor time of some processes, ms. */
export async function programsTime(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(pids.map(processorTime));
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}
