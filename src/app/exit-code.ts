import type { RunResult } from '../recording/context.ts';

/** Exit codes of every command. The codes are a public contract and never change. */
export const exitCode = { done: 0, failed: 1, usage: 2, later: 75 } as const;

/**
 * Returns the exit code after runs: 1 if a run failed permanently; 75 if every failure is temporary. Without
 * a failure, 75 if a target was busy or an interruption left jobs.
 */
export function getExitCode(runs: readonly RunResult[], busy: readonly string[], left: number): number {
  const failed = runs.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return busy.length === 0 && left === 0 ? exitCode.done : exitCode.later;
  return failed.every(({ later }) => later) ? exitCode.later : exitCode.failed;
}

/** Returns the message of a command that was stopped before it had completed. */
export function interruptedText(left: number, all: number): string {
  return `interrupted: ${left} of ${all} parts are left; recorded data is kept: run the same command again to continue`;
}
