import { readdirSync, readFileSync } from 'node:fs';

/** Processor time since the start of a test run, in ms, by process. */
export interface ProcessorTime {
  /** The process that runs the tests. */
  readonly tests: number;
  /** The PostgreSQL that the tests share, with its checkpoints. */
  readonly postgres: number;
  /** Programs started by tests. */
  readonly programs: number;
}

interface Process {
  readonly parent: number;
  readonly own: number;
  /** Processor time of ended children. */
  readonly reaped: number;
}

/** `/proc` counts in ticks of 10 ms on every Linux that Node.js supports. */
const TICK_MS = 10;

/**
 * Reads the processor time of this test process, of its child programs and of a PostgreSQL from `/proc`.
 * @param postmaster process id of the PostgreSQL, or null if it runs on another machine
 */
export function processorTime(postmaster: number | null): ProcessorTime {
  const worker = process.pid;
  const all = processes();
  const time = { tests: all.get(worker)?.own ?? 0, postgres: 0, programs: all.get(worker)?.reaped ?? 0 };
  for (const [pid, { own, reaped }] of all) {
    const ancestors = ancestorsOf(pid, all);
    if (ancestors.includes(worker)) time.programs += own + reaped;
    if (pid === postmaster || ancestors.some((one) => one === postmaster)) time.postgres += own + reaped;
  }
  return time;
}

/** Returns the processor time between two moments. */
export function between(start: ProcessorTime, end: ProcessorTime): ProcessorTime {
  return {
    tests: end.tests - start.tests,
    postgres: end.postgres - start.postgres,
    programs: end.programs - start.programs,
  };
}

function processes(): Map<number, Process> {
  const all = new Map<number, Process>();
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      all.set(Number(pid), parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1')));
    } catch {
      // The process ended between the two reads.
    }
  }
  return all;
}

/** Parses a line of proc_pid_stat(5). The name is in parentheses and may contain any character. */
function parseStat(line: string): Process {
  const end = line.lastIndexOf(')');
  const fields = line
    .slice(end + 2)
    .split(' ')
    .map(Number);
  const [, parent = 0] = fields;
  const [user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = fields.slice(11);
  return {
    parent,
    own: (user + system) * TICK_MS,
    reaped: (reapedUser + reapedSystem) * TICK_MS,
  };
}

function ancestorsOf(pid: number, all: ReadonlyMap<number, Process>): number[] {
  const ancestors: number[] = [];
  let next = all.get(pid)?.parent;
  while (next !== undefined && next > 1) {
    ancestors.push(next);
    next = all.get(next)?.parent;
  }
  return ancestors;
}
