import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { reports } from '../../src/reporting/reports/saved-queries.ts';
import { runCommand } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dir = temporaryFolder('completion');

const scripts = new Map<string, string>();
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish'])
    scripts.set(shell, (await runCommand(['completion', shell], {}, dir)).stdout);
});

/** Returns the completions of bash for the words of a line, the last of which is incomplete. */
function completionsOf(...words: string[]): string[] {
  const line = ['chain-recorder', ...words];
  const script = `${scripts.get('bash')}
COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}
_chain_recorder; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

describe('bash completes', () => {
  it('commands', () => {
    expect(completionsOf('')).toEqual(expect.arrayContaining(['up', 'doctor', 'init', 'completion']));
    expect(completionsOf('que')).toEqual(['query']);
  });

  it('datasets, reports, actions and options', () => {
    expect(completionsOf('record', '')).toEqual(expect.arrayContaining(recorded.map(({ name }) => name)));
    expect(completionsOf('report', '')).toEqual(expect.arrayContaining(reports().map(({ name }) => name)));
    expect(completionsOf('record', '--t')).toEqual(['--target']);
    expect(completionsOf('query', '--as')).toEqual(['--as-of']);
    expect(completionsOf('maintenance', 'a')).toEqual(['announce']);
    expect(completionsOf('no-such-command', '')).toEqual([]);
  });

  it('an argument once, and a file as the value of an option', () => {
    expect(completionsOf('record', 'validators', 'val')).toEqual([]);
    expect(completionsOf('record', 'validators', '--j')).toEqual(['--json']);
    expect(completionsOf('report', 'status', '--to', '')).toEqual([]);
  });
});

it.each(['zsh', 'fish'])('the script of %s has every command, dataset and report', (shell) => {
  const script = scripts.get(shell) ?? '';
  for (const { name } of [...recorded, ...reports()]) expect(script).toMatch(new RegExp(`\\b${name}\\b`));
  if (spawnSync(shell, ['--version']).error)
    console.warn(`skipped: ${shell} is not here, so its script was not read by it`);
  else {
    const file = join(dir, `completion.${shell}`);
    writeFileSync(file, script);
    expect(spawnSync(shell, ['-n', file], { encoding: 'utf8' }).stderr).toBe('');
    if (shell === 'fish') {
      const script = `source ${file}; complete -C 'chain-recorder record validator_up'`;
      const { stdout } = spawnSync(shell, ['--no-config', '-c', script], { encoding: 'utf8' });
      expect(stdout).toBe('validator_uptime\n');
    }
  }
});
