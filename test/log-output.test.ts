import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { noTerminal } from './support/terminal.ts';

const PROGRAM = resolve(import.meta.dirname, 'support/logging-process.ts');
/** A device on which every write fails as on a disk that is full. */
const FULL = '/dev/full';
const noFull = existsSync(FULL) ? '' : ` (skipped: there is no ${FULL})`;
const notOnOne = noTerminal === null ? '' : ` (skipped: ${noTerminal})`;

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});

/** @param stderr where the log goes */
function logging(stderr: number | 'pipe') {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM], { stdio: ['pipe', 'pipe', stderr] });
  running.add(child);
  return child;
}

/** Lets it log to its end. @returns what it said on its stdout, and how it ended */
async function toItsEnd({ stdin, stdout, ...child }: ReturnType<typeof logging>, ended: Promise<unknown[]>) {
  if (!stdin || !stdout) throw new Error(`the process ${child.pid} has no pipes`);
  const said = text(stdout);
  await once(stdout, 'data');
  stdin.end('go on\n');
  const [code] = await ended;
  return { code, said: await said };
}

describe('the log', () => {
  it.skipIf(noFull)(`on a disk that is full neither ends the process nor holds it up${noFull}`, async () => {
    const full = openSync(FULL, 'w');
    const child = logging(full);
    closeSync(full);
    expect(await toItsEnd(child, once(child, 'exit'))).toEqual({ code: 0, said: 'logged\nagain\n' });
  });

  it('whose reader is gone neither ends the process nor holds it up', async () => {
    const child = logging('pipe');
    child.stderr?.destroy();
    expect(await toItsEnd(child, once(child, 'exit'))).toEqual({ code: 0, said: 'logged\nagain\n' });
  });

  it.skipIf(notOnOne)(`on a terminal that is closed does not end the process${notOnOne}`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'log-'));
    const said = join(dir, 'said');
    const waiting = join(dir, 'waiting');
    const command = `mkfifo ${waiting}; exec ${process.execPath} --import tsx ${PROGRAM} > ${said} < ${waiting}`;
    const terminal = spawn('script', ['-qefc', command, '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    running.add(terminal);
    await expect.poll(() => existsSync(waiting)).toBe(true);
    const stdin = createWriteStream(waiting);
    const line = () => readFileSync(said, 'utf8').trim().split('\n').at(-1);
    await expect.poll(line, { timeout: 10_000 }).toBe('logged');
    terminal.kill('SIGKILL');
    await expect.poll(line, { timeout: 10_000 }).toBe('outlived');
    stdin.end('go on\n');
    await expect.poll(line, { timeout: 10_000 }).toBe('again');
    rmSync(dir, { recursive: true });
  });

  it('is whole where the process ends at once', async () => {
    const child = logging('pipe');
    if (!child.stderr) throw new Error('there is no pipe');
    const [log] = await Promise.all([text(child.stderr), toItsEnd(child, once(child, 'exit'))]);
    const lines = log.trimEnd().split('\n');
    // The last ones may overtake one that is being written at that moment.
    expect(new Set(lines.map((line) => JSON.parse(line).msg))).toEqual(
      new Set(['one', 'two', 'three', 'four', 'five']),
    );
  });
});
