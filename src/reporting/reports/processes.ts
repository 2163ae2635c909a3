import type postgres from 'postgres';

/** A process of `up`: a row of `reporting_internal.processes`. */
export interface RecorderProcess {
  readonly process: string;
  readonly recorder: string;
  readonly network: string;
  readonly roles: readonly string[];
  readonly state: 'running' | 'outdated' | 'stopped' | 'lost';
  readonly started_at: Date;
  readonly seen_at: Date;
}

/** States in descending order of urgency. */
const ORDER: readonly RecorderProcess['state'][] = ['outdated', 'running', 'lost', 'stopped'];
/** Maximum number of processes. If there are more, the oldest ended processes are omitted. */
const MAX_PROCESSES = 30;

/** Returns the running processes, and the processes that ended within the last hour. */
export async function processesNow(sql: postgres.Sql): Promise<RecorderProcess[]> {
  const rows = await sql<RecorderProcess[]>`
    select process, recorder, network, roles, state, started_at, seen_at from reporting_internal.processes
    where state in ('running', 'outdated') or seen_at > now() - interval '1 hour'
    order by state in ('running', 'outdated') desc, seen_at desc, process limit ${MAX_PROCESSES}`;
  return rows.sort(
    (one, other) =>
      ORDER.indexOf(one.state) - ORDER.indexOf(other.state) || (one.recorder < other.recorder ? -1 : 1),
  );
}

/** A recorder that currently writes to this database. */
export interface LivingRecorder {
  readonly recorder: string;
  readonly network: string;
  readonly processes: number;
}

export async function livingRecorders(sql: postgres.Sql): Promise<LivingRecorder[]> {
  return sql<LivingRecorder[]>`
    select recorder, min(network) as network, count(*)::int as processes from reporting_internal.processes
    where state in ('running', 'outdated') group by recorder order by recorder`;
}
