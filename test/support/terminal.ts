import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import headless from '@xterm/headless';
import { inject } from 'vitest';
import { commandEnvironment } from './cli.ts';

/** Reason why no command can run on a terminal here; null: it can. */
export const noTerminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes(
  'util-linux',
)
  ? null
  : 'no script of util-linux is on PATH, which makes a terminal';

/** A command that runs on a terminal. */
export interface OnTerminal {
  /** The current screen, and the lines above it, without empty lines at the end. */
  text(): string;
  /** The complete output, with control characters. */
  written(): string;
  /** The column of the cursor, from 0. */
  cursor(): number;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  kill(): void;
  /** Its exit code, and whether it restored the terminal's settings. */
  readonly ended: Promise<{ code: number | null; restored: boolean }>;
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Starts a command of the command line on a real pseudo-terminal, whose output is shown by an emulated screen.
 * @param redirected a redirection of the shell, such as `2>log`
 */
export function startOnTerminal(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
  { columns = 100, rows = 30, redirected = '' } = {},
): OnTerminal {
  const notes = mkdtempSync(join(cwd, '.terminal-'));
  const command = [process.execPath, inject('cli'), ...args].map(quote).join(' ');
  const note = (name: string) => join(notes, name);
  const steps = [
    `stty rows ${rows} cols ${columns}`,
    `tty > ${quote(note('tty'))}`,
    `stty -g > ${quote(note('before'))}`,
    'trap : INT', // Ctrl-C is meant for the command
    `${command} ${redirected}`,
    'code=$?',
    `stty -g > ${quote(note('after'))}`,
    'exit $code',
  ];
  const child = spawn('script', ['-qefc', steps.join('; '), '--echo', 'always', '/dev/null'], {
    cwd,
    env: {
      ...commandEnvironment(cwd),
      SHELL: '/bin/sh',
      TERM: 'xterm-256color',
      LOG_LEVEL: undefined,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  let written = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written += text;
    terminal.write(text);
  });
  const ended = once(child, 'close').then(async () => {
    await new Promise<void>((resolve) => terminal.write('', resolve));
    if (child.signalCode !== null) return { code: null, restored: false }; // a test that failed ended it
    const [before, after] = ['before', 'after'].map((name) => readFileSync(note(name), 'utf8'));
    return { code: child.exitCode, restored: before === after };
  });
  return {
    text: () => {
      const { active } = terminal.buffer;
      const lines = Array.from({ length: active.length }, (_, at) =>
        active.getLine(at)?.translateToString(true),
      );
      return lines.join('\n').trimEnd();
    },
    written: () => written,
    cursor: () => terminal.buffer.active.cursorX,
    type: (keys) => child.stdin.write(keys),
    resize: (width, height) => {
      const tty = readFileSync(note('tty'), 'utf8').trim();
      spawnSync('stty', ['-F', tty, 'rows', String(height), 'cols', String(width)]);
      terminal.resize(width, height); // before anything else is read
    },
    kill: () => child.kill('SIGKILL'),
    ended,
  };
}

/** The lines of the output, without control characters. */
export const plainLines = (written: string) => stripVTControlCharacters(written).split(/\r?\n/);
