import type { Checked } from '../../lib/check-result.ts';
import { printTable } from '../../lib/print.ts';

/** Prints check results for people: a line each, and the fix below a failure. */
export function printChecked(checked: readonly Checked[]): void {
  printTable(checked.flatMap(inRows), 'nothing was looked at');
}

function inRows({ check, ok, nothingToCheck, found, mend }: Checked) {
  const first = { '': ok ? (nothingToCheck ? '--' : 'ok') : 'FIX', check, found };
  return mend === undefined ? [first] : [first, { '': '', check: '', found: `→ ${mend}` }];
}
