import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measurement } from './measure.ts';

/*
 * Runs tests one file after another and prints the slowest files and tests with their processor time:
 * `npm run test:profile`, or with arguments of vitest, such as `npm run test:profile -- --project slow`.
 */

const MAX_SHOWN = 20;
const COLUMNS = ['processor', 'elapsed', 'tests', 'postgres', 'programs', 'hooks'] as const;

const processor = ({ tests, postgres, programs }: Measurement) => tests + postgres + programs;

const vitestArgs = process.argv.slice(2);
const dir = await mkdtemp(join(tmpdir(), 'recorder-profile-'));
const file = join(dir, 'measurements');
try {
  // One worker: the work of PostgreSQL meanwhile is for its file alone.
  const args = [
    'run',
    '--maxWorkers',
    '1',
    '--reporter',
    'dot',
    ...(vitestArgs.length ? vitestArgs : ['--project', 'fast']),
  ];
  const vitest = spawn('npx', ['vitest', ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, TEST_PROFILE: file },
  });
  await once(vitest, 'close');
  process.exitCode = vitest.exitCode ?? 1;
  print(
    (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
} finally {
  await rm(dir, { recursive: true });
}

/** Prints seconds: all files together, then the files and tests that need the most processor time. */
function print(all: readonly Measurement[]): void {
  const tests = all.filter(({ test }) => test !== null);
  const files = all.filter(({ test }) => test === null);
  const inTests = new Map<string, number>();
  for (const one of tests) inTests.set(one.file, (inTests.get(one.file) ?? 0) + processor(one));
  const sum = (of: (one: Measurement) => number) => files.reduce((total, one) => total + of(one), 0);
  table('All files', [
    row(
      `${files.length} files, ${tests.length} tests`,
      {
        file: '',
        test: null,
        elapsed: sum(({ elapsed }) => elapsed),
        tests: sum((one) => one.tests),
        postgres: sum(({ postgres }) => postgres),
        programs: sum(({ programs }) => programs),
      },
      sum((one) => processor(one) - (inTests.get(one.file) ?? 0)),
    ),
  ]);
  const slowest = (of: readonly Measurement[]) =>
    of.toSorted((one, other) => processor(other) - processor(one)).slice(0, MAX_SHOWN);
  table(
    'Files',
    slowest(files).map((one) => row(one.file, one, processor(one) - (inTests.get(one.file) ?? 0))),
  );
  table(
    'Tests',
    slowest(tests).map((one) => row(`${one.file}: ${one.test}`, one, 0)),
  );
}

function row(name: string, one: Measurement, hooks: number): string {
  const cells = [processor(one), one.elapsed, one.tests, one.postgres, one.programs, hooks];
  return `${cells.map((ms) => (ms / 1000).toFixed(1).padStart(9)).join(' ')}  ${name}`;
}

function table(title: string, rows: readonly string[]): void {
  console.info(`\n${title}, in seconds`);
  console.info([COLUMNS.map((name) => name.padStart(9)).join(' '), ...rows].join('\n'));
}
