import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { applyPatch } from '../../chaos/source-patch.ts';
import { type Mutation, mutations } from './mutations.ts';

/**
 * Applies each bug of `mutations.ts` to a copy of this repository, and runs the test file that must fail: `npm run
 * test:mutations`, or with words of the names of some of them. Fails if a bug is not detected.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = [
  'src',
  'test',
  'sandbox',
  'chaos',
  'package',
  'web',
  'examples',
  'package.json',
  'tsconfig.json',
];
const LINKED = ['node_modules', 'dist', 'drizzle', 'docs', 'README.md', 'vitest.config.ts'];

const words = process.argv.slice(2);
const selected = mutations.filter(({ name }) => words.every((word) => name.includes(word)));
let missed = 0;
for (const mutation of selected) {
  const found = await failuresBy(mutation);
  if (found.length === 0) missed += 1;
  console.info(
    `${found.length > 0 ? 'caught' : 'MISSED'}  ${mutation.name}\n        ${mutation.test}: ${found[0] ?? '-'}`,
  );
}
console.info(`${selected.length - missed} of ${selected.length} are caught`);
process.exitCode = missed > 0 ? 1 : 0;

/**
 * Returns the titles of the tests that fail with the bug. @throws Error if the source does not contain the text, or the
 * tests do not run
 */
async function failuresBy(mutation: Mutation): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'recorder-mutation-'));
  try {
    for (const name of COPIED) await cp(join(ROOT, name), join(dir, name), { recursive: true });
    for (const name of LINKED) await symlink(join(ROOT, name), join(dir, name));
    const path = join(dir, 'src', mutation.file);
    await writeFile(path, applyPatch(await readFile(path, 'utf8'), mutation));
    const report = join(dir, 'report.json');
    const args = [
      'vitest',
      'run',
      '--project',
      'fast',
      '--reporter',
      'json',
      '--outputFile',
      report,
      `test/${mutation.test}`,
    ];
    const vitest = spawn('npx', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
    const [errors] = await Promise.all([text(vitest.stderr), once(vitest, 'close')]);
    const read: Report = JSON.parse(
      await readFile(report, 'utf8').catch(() => Promise.reject(new Error(errors))),
    );
    return read.testResults.flatMap(({ assertionResults, message }) => {
      const failed = assertionResults
        .filter(({ status }) => status === 'failed')
        .map(({ fullName }) => fullName);
      if (failed.length === 0 && message) throw new Error(message);
      return failed;
    });
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** The used part of vitest's JSON report. */
interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}
