import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isExempt } from './exceptions.ts';
import { findAmbiguousExports } from './exported-names.ts';
import { findRefusedNames } from './identifiers.ts';
import { findStyleProblems } from './rules.ts';
import { textsOf } from './texts.ts';

/** Checks the texts and names of the project. Prints every problem; exit code 1 if there are any. */
const root = new URL('../../', import.meta.url);
const list = (...patterns: readonly string[]): string[] =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: fileURLToPath(root), encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '');
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const texts = list('*.ts', '*.tsx', '*.js', 'src/*.sql', '*.md').filter((path) => !isExempt(path));
const modules = new Map(list('src/*.ts', 'src/*.tsx').map((path) => [path, read(path)]));
const problems = [
  ...texts.flatMap((path) => textsOf(path, read(path)).flatMap(findStyleProblems)),
  ...texts.filter((path) => /\.tsx?$/.test(path)).flatMap((path) => findRefusedNames(path, read(path))),
  ...findAmbiguousExports(modules),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
