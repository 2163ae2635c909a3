import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { onPath } from '../support/on-path.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const analyze = onPath('systemd-analyze');
const skipped = analyze ? '' : ' (skipped: no systemd-analyze on PATH)';
if (!analyze) console.warn('Skipping what systemd-analyze checks: it is not on PATH.');

const unit = readFileSync(new URL('../../examples/systemd/chain-recorder.service', import.meta.url), 'utf8');
const scratch = temporaryFolder('unit');

/** Returns the output of systemd-analyze for a unit, whose program has another path on this machine. */
function analyzeUnit(text: string, ...args: readonly string[]): Promise<{ code: number; output: string }> {
  const file = join(scratch, 'chain-recorder.service');
  writeFileSync(file, text.replace('/opt/chain-recorder/bin/chain-recorder', process.execPath));
  return new Promise((resolve) => {
    execFile(analyze ?? '', [...args, file], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

describe('the unit for systemd', () => {
  it.skipIf(!analyze)(`is valid for systemd-analyze${skipped}`, async () => {
    expect(await analyzeUnit(unit, 'verify', '--man=no')).toEqual({ code: 0, output: '' });
    const { output } = await analyzeUnit(unit.replace('WatchdogSec', 'WatchdogSecs'), 'verify', '--man=no');
    expect(output).toContain('WatchdogSecs');
  });

  it.skipIf(!analyze)(`restricts the service${skipped}`, async () => {
    // 0 is the least exposure, 10 the most; the limit is ten times the value.
    const { code, output } = await analyzeUnit(
      unit,
      'security',
      '--offline=yes',
      '--threshold=20',
      '--no-pager',
    );
    expect(code, output).toBe(0);
    const open = unit.replace(
      /^(Protect|Private|Restrict|System|Dynamic|NoNew|Capability|Lock)\w+=.*$/gm,
      '',
    );
    expect(
      (await analyzeUnit(open, 'security', '--offline=yes', '--threshold=20', '--no-pager')).code,
    ).not.toBe(0);
  });
});
