import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  createWriteStream,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { LogOutput } from '../../src/telemetry/log-output.ts';
import { noTerminal } from '../support/terminal.ts';

const PROGRAM = resolve(import.meta.dirname, '../support/logging-process.ts');
/** A device on which every write fails as on a full disk. */
const FULL = '/dev/full';
const withoutFullDevice = existsSync(FULL) ? '' : ` (skipped: there is no ${FULL})`;
const withoutTerminal = noTerminal === null ? '' : ` (skipped: ${noTerminal})`;

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

/** @param stderr destination of the log */
function startLogging(stderr: number | 'pipe') {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM], { stdio: ['pipe', 'pipe', stderr] });
  running.add(child);
  return child;
}

/** Lets it log to its end. @returns its stdout, and its exit */
async function runToEnd(
  { stdin, stdout, ...child }: ReturnType<typeof startLogging>,
  ended: Promise<unknown[]>,
) {
  if (!stdin || !stdout) throw new Error(`the process ${child.pid} has no pipes`);
  const output = text(stdout);
  await once(stdout, 'data');
  stdin.end('continue\n');
  const [code] = await ended;
  return { code, output: await output };
}

describe('log lines that cannot be written', () => {
  const dir = mkdtempSync(join(tmpdir(), 'log-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  let now = 1_000;
  const open = async () => {
    const path = join(dir, 'fifo');
    rmSync(path, { force: true });
    await promisify(execFile)('mkfifo', [path]);
    const reader = () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const first = reader();
    const fd = openSync(path, 'w');
    const output = new LogOutput(
      fd,
      () => now,
      (lines, since) => `${lines} since ${since}\n`,
    );
    return { output, first, reader };
  };
  /** The lines up to the last one. */
  const readUntil = async (fd: number, last: string) => {
    let read = '';
    const buffer = Buffer.alloc(65_536);
    const readAvailable = () => {
      for (let bytes = 1; bytes > 0; ) {
        bytes = attempt(() => readSync(fd, buffer)) ?? 0;
        read += buffer.toString('utf8', 0, bytes);
      }
      return read.endsWith(last);
    };
    await expect.poll(readAvailable, { interval: 1, timeout: 10_000 }).toBe(true);
    return read;
  };

  it('are reported by the next that can be: their number and start', async () => {
    const { output, first, reader } = await open();
    closeSync(first);
    for (const lost of [1, 2]) {
      now = lost * 1_000;
      output.write('this is never read\n');
      await expect.poll(() => output.lost).toBe(lost);
    }
    now = 9_000;
    const second = reader();
    output.write('four\n');
    output.write('five\n');
    expect(await readUntil(second, 'five\n')).toBe('2 since 1000\nfour\nfive\n');
    expect(output.lost).toBe(2);
  });

  it('are reported on a line of its own after one that was written in part', async () => {
    const { output, first, reader } = await open();
    output.write(`${'x'.repeat(300_000)}\n`);
    const started = Buffer.alloc(1);
    await expect.poll(() => attempt(() => readSync(first, started))).toBe(1);
    closeSync(first);
    await expect.poll(() => output.lost).toBe(1);
    const second = reader();
    output.write('whole\n');
    expect(await readUntil(second, 'whole\n')).toMatch(/^x+\n1 since 9000\nwhole\n$/);
  });

  it('are reported if too much waits for a slow reader, before the waiting lines', async () => {
    const { output, first } = await open();
    const line = `${'x'.repeat(999_999)}\n`;
    for (let count = 0; count < 12; count++) output.write(line);
    expect(output.lost).toBe(3);
    output.write('the last\n');
    const read = await readUntil(first, 'the last\n');
    expect(read.split('\n').map((one) => (one.startsWith('x') ? one.length : one))).toEqual([
      999_999,
      '3 since 9000',
      ...Array(8).fill(999_999),
      'the last',
      '',
    ]);
  });
});

/** Returns the result of a system call; null: it fails, as without data to read. */
function attempt(call: () => number): number | null {
  try {
    return call();
  } catch {
    return null;
  }
}

describe('the log', () => {
  it.skipIf(withoutFullDevice)(
    `on a full disk neither ends the process nor blocks it${withoutFullDevice}`,
    async () => {
      const full = openSync(FULL, 'w');
      const child = startLogging(full);
      closeSync(full);
      expect(await runToEnd(child, once(child, 'exit'))).toEqual({ code: 0, output: 'logged\nagain\n' });
    },
  );

  it('without a reader neither ends the process nor blocks it', async () => {
    const child = startLogging('pipe');
    child.stderr?.destroy();
    expect(await runToEnd(child, once(child, 'exit'))).toEqual({ code: 0, output: 'logged\nagain\n' });
  });

  it.skipIf(withoutTerminal)(`on a closed terminal does not end the process${withoutTerminal}`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'log-'));
    const outputPath = join(dir, 'output');
    const inputPath = join(dir, 'waiting');
    const command = `mkfifo ${inputPath}; exec ${process.execPath} --import tsx ${PROGRAM} > ${outputPath} < ${inputPath}`;
    const terminal = spawn('script', ['-qefc', command, '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    running.add(terminal);
    await expect.poll(() => existsSync(inputPath)).toBe(true);
    const stdin = createWriteStream(inputPath);
    const line = () => readFileSync(outputPath, 'utf8').trim().split('\n').at(-1);
    await expect.poll(line, { timeout: 10_000 }).toBe('logged');
    terminal.kill('SIGKILL');
    await expect.poll(line, { timeout: 10_000 }).toBe('outlived');
    stdin.end('continue\n');
    await expect.poll(line, { timeout: 10_000 }).toBe('again');
    rmSync(dir, { recursive: true });
  });

  it('is complete if the process ends at once', async () => {
    const child = startLogging('pipe');
    if (!child.stderr) throw new Error('there is no pipe');
    const [log] = await Promise.all([text(child.stderr), runToEnd(child, once(child, 'exit'))]);
    const lines = log.trimEnd().split('\n');
    // The last ones may precede one that is being written at that moment.
    expect(new Set(lines.map((line) => JSON.parse(line).msg))).toEqual(
      new Set(['one', 'two', 'three', 'four', 'five']),
    );
  });
});
