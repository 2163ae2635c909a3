import type { RunResult } from '../recording/context.ts';

/** The exit codes of every command. Users rely on them, so they never change. */
export const exitCode = { done: 0, failed: 1, usage: 2, later: 75 } as const;

/**
 * The exit code after runs: 1 if one failed for good; 75 if every failure may pass, or if without a failure a target was
 * busy or an interruption left some jobs.
 */
export function exitAfter(runs: readonly RunResult[], busy: readonly string[], left: number): number {
  const failed = runs.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return busy.length === 0 && left === 0 ? exitCode.done : exitCode.later;
  return failed.every(({ later }) => later) ? exitCode.later : exitCode.failed;
}

/** What a command says that was stopped before it had done all. */
export function interrupted(left: number, all: number): string {
  return `interrupted: ${left} of ${all} parts are left; what was recorded is kept: run the same command again to go on`;
}
