import type { App } from '../app.ts';
import { statusOf } from '../reporting/status.ts';
import { exitCode } from './exit.ts';
import { printJson, printTable } from './output.ts';

/** `status`: freshness, failures, budgets, quarantine. @returns 1 while a target is late by more than three intervals */
export async function statusCommand(app: App, options: { json: boolean }): Promise<number> {
  const status = await statusOf(app.database.sql);
  if (options.json) printJson(status);
  else {
    printTable(
      status.datasets.map((row) => ({
        ...row,
        late_by: row.late_by === null ? null : `${Math.round(row.late_by)}s`,
      })),
      'nothing is recorded yet',
    );
    if (status.recent_failures.length > 0) process.stdout.write('\nfailures of the last day\n');
    if (status.recent_failures.length > 0) printTable([...status.recent_failures], '');
    if (status.budgets.length > 0) process.stdout.write('\nbudgets\n');
    if (status.budgets.length > 0) printTable([...status.budgets], '');
    process.stdout.write(
      `\nquarantined items: ${status.quarantined}; gaps: ${status.gaps}; late targets: ${status.late_targets}\n`,
    );
  }
  return status.late_targets > 0 ? exitCode.failed : exitCode.done;
}
