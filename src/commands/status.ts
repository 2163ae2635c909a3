import type { App } from '../app.ts';
import { statusOf } from '../reporting/status.ts';
import { exitCode } from './exit.ts';
import { printJson, printTable } from './output.ts';

/** A target this many intervals late is a fault that `status` reports with exit code 1. */
const TOLERATED_INTERVALS = 3;

/** `status`: freshness, failures, budgets, quarantine. @returns 1 while a target is late by more than three intervals */
export async function statusCommand(app: App, options: { json: boolean }): Promise<number> {
  const status = await statusOf(app.database.sql);
  const [late] = await app.database.sql<{ count: number }[]>`
    select count(*)::int from reporting.freshness where late_by > expected_every * ${TOLERATED_INTERVALS}::int`;
  const lateTargets = late?.count ?? 0;
  if (options.json) printJson({ ...status, late_targets: lateTargets });
  else {
    printTable(
      status.datasets.map((row) => ({
        ...row,
        late_by: row.late_by === null ? null : `${Math.round(row.late_by)}s`,
      })),
      'nothing is recorded yet',
    );
    if (status.recentFailures.length > 0) process.stdout.write('\nfailures of the last day\n');
    if (status.recentFailures.length > 0) printTable([...status.recentFailures], '');
    if (status.budgets.length > 0) process.stdout.write('\nbudgets\n');
    if (status.budgets.length > 0) printTable([...status.budgets], '');
    process.stdout.write(
      `\nquarantined items: ${status.quarantined}; gaps: ${status.gaps}; late targets: ${lateTargets}\n`,
    );
  }
  return lateTargets > 0 ? exitCode.failed : exitCode.done;
}
