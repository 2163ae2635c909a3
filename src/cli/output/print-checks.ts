import type { CheckResult } from '../../lib/check-result.ts';
import { printTable } from '../../lib/print.ts';

/** Prints one line for each check result, and the fix below a failure. */
export function printCheckResults(checked: readonly CheckResult[]): void {
  printTable(checked.flatMap(inRows), 'nothing to check: no upstream is configured');
}

function inRows({ check, ok, nothingToCheck, found, fix }: CheckResult) {
  const first = { '': ok ? (nothingToCheck ? '--' : 'ok') : 'FIX', check, found };
  return fix === undefined ? [first] : [first, { '': '', check: '', found: `→ ${fix}` }];
}
