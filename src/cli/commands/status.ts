import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { lagText } from '../../db/replica.ts';
import { formatTime } from '../../lib/output-stream.ts';
import { printJson, printLine, printTable } from '../../lib/print.ts';
import { describeDiscrepancies } from '../../reporting/reports/discrepancies.ts';
import { describeFinding } from '../../reporting/reports/findings.ts';
import { statusOf } from '../../reporting/reports/status.ts';

/**
 * Command `status`: prints problems, freshness, failures, budgets, quarantine. Discrepancies between sources
 * do not affect the exit code: the recorder cannot repair them.
 * @returns the exit code; 1 if there are findings, such as late, failing, incomplete or stalled parts
 */
export async function statusCommand(app: App, options: { json: boolean }): Promise<number> {
  const status = await statusOf(app.database.sql, app.budgets);
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
    process.stdout.write('\n');
    printLine(
      `quarantined items: ${status.quarantined}; gaps: ${status.gaps}; targets late: ${status.late_targets}, ` +
        `failing: ${status.failing_targets}, incomplete: ${status.incomplete_targets}; stalled: ${status.stalled}`,
    );
    const { seal } = status;
    if (seal)
      printLine(
        `sealed until ${formatTime(seal.sealed_until)} (seal ${seal.seal}, ${seal.signed ? 'signed' : 'not signed'}): ${seal.head}`,
      );
    printLine(`discrepancies between sources: ${describeDiscrepancies(status.discrepancies)}`);
    for (const { replica, error, lag_seconds } of status.replicas)
      printLine(`replica ${replica}: ${error ?? lagText({ lagSeconds: lag_seconds })}`);
    for (const finding of status.findings) printLine(describeFinding(finding, formatTime));
  }
  return status.findings.length > 0 ? exitCode.failed : exitCode.done;
}
