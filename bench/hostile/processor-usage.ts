import { readdir, readFile } from 'node:fs/promises';
import type postgres from 'postgres';

/** Processor time until now, s. */
export interface ProcessorUsage {
  /** The process that records and serves pages. */
  readonly recorder: number;
  /** PostgreSQL, for what records. */
  readonly recording: number;
  /** PostgreSQL, for everything else: readers, and its background processes. */
  readonly others: number;
  /** This process, which sends the requests. */
  readonly load: number;
}

/** Clock ticks a second, as /proc counts. */
const TICKS = 100;

/**
 * Reads the processor time of each part. On Linux only. @param sql a database of this machine @param recorder the
 * process id
 */
export async function readProcessorUsage(sql: postgres.Sql, recorder: number): Promise<ProcessorUsage> {
  const backends = await sql<{ pid: number; work: boolean }[]>`
    select pid, application_name = 'chain-recorder' as work from pg_stat_activity where backend_type = 'client backend'`;
  const backend = await statOf(backends[0]?.pid ?? 0);
  const server = await statOf(backend.parent);
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const all = await Promise.all(pids.map(async (pid) => ({ pid, ...(await statOf(pid)) })));
  const children = all.filter(({ parent }) => parent === backend.parent);
  const total = server.time + server.ended + children.reduce((sum, { time }) => sum + time, 0);
  const work = new Set(backends.flatMap(({ pid, work: works }) => (works ? [pid] : [])));
  const recording = children.reduce((sum, { pid, time }) => sum + (work.has(pid) ? time : 0), 0);
  const { user, system } = process.cpuUsage();
  return {
    recorder: (await statOf(recorder)).time,
    recording,
    others: total - recording,
    load: (user + system) / 1e6,
  };
}

/** Difference of two readings. */
export function between(before: ProcessorUsage, after: ProcessorUsage): ProcessorUsage {
  return {
    recorder: after.recorder - before.recorder,
    recording: after.recording - before.recording,
    others: after.others - before.others,
    load: after.load - before.load,
  };
}

/** As text, s. */
export function formatProcessorUsage({ recorder, recording, others, load }: ProcessorUsage): string {
  const parts = { process: recorder, 'PostgreSQL for the recording': recording, 'for others': others, load };
  return Object.entries(parts)
    .map(([name, time]) => `${name} ${time.toFixed(2)}`)
    .join(', ');
}

/** A process: its parent, its processor time, and that of its ended children, s; zeros if it ended. */
async function statOf(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name may have spaces and brackets.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { parent, time: (user + system) / TICKS, ended: (endedUser + endedSystem) / TICKS };
}
