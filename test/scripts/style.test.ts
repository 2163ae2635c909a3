import { expect, it } from 'vitest';
import { findAmbiguousExports } from '../../scripts/style/exported-names.ts';
import { findRefusedNames } from '../../scripts/style/identifiers.ts';
import { findStyleProblems } from '../../scripts/style/rules.ts';
import { textsOf } from '../../scripts/style/texts.ts';

const problemsOf = (path: string, source: string) => textsOf(path, source).flatMap(findStyleProblems);

it('refuses comments, messages and documents with private words, with place, reason and replacement', () => {
  const source = [
    '/** Such a page is begun anew. */',
    'export const a = 1;',
    "throw new Error('nobody asks for this run');",
    'const begins = `select begins from spans group by begins`;',
    "it('tells the result', run);",
  ].join('\n');
  expect(problemsOf('src/a.ts', source).map((problem) => problem.split(' is ', 1)[0])).toEqual([
    'src/a.ts:1: "anew"',
    'src/a.ts:1: "begun"',
    'src/a.ts:1: "/** Such"',
    'src/a.ts:3: "nobody"',
    'src/a.ts:3: "asks"',
    'src/a.ts:5: "tells"',
  ]);
  expect(problemsOf('src/b.ts', 'const query = `\nselect 1\n  -- nobody waits\n`;')).toEqual([
    expect.stringMatching(/^src\/b\.ts:3: "nobody"/),
  ]);
  expect(problemsOf('a.sql', "-- wholly new\nselect 'told', 'it stands still for long';")).toEqual([
    expect.stringMatching(/^a\.sql:1: "wholly"/),
    expect.stringMatching(/^a\.sql:2: "stands still"/),
  ]);
  expect(problemsOf('docs/a.md', 'It stands still.\n```sh\nit begins anew\n```\nFixed.')).toEqual([
    expect.stringMatching(/^docs\/a\.md:1: "stands still" is .+; use .+/),
  ]);
});

it('refuses a name that two modules declare and export, and accepts re-exports', () => {
  const files = new Map([
    ['a.ts', 'export interface Widget {}\nexport const one = 1;'],
    ['b.ts', "export class Widget {}\nexport { one } from './a.ts';"],
    ['c.ts', 'const one = 2;'],
  ]);
  expect(findAmbiguousExports(files)).toEqual([expect.stringMatching(/^a\.ts, b\.ts: .*"Widget"/)]);
});

it('refuses declared names of a private language, with their place, and accepts upstream ones in literals', () => {
  const source = [
    'const { a: told } = read();',
    'function run(wanted: string, { b = 1 }: Options): string { return wanted; }',
    'interface Options { readonly says: string; readonly stored: string }',
    'const MOST_ROWS = 1;',
    'class Log { readonly #heard = 1; }',
    'interface Told { knows(): boolean }',
    'send({ given: 1, knownKeys });',
  ].join('\n');
  expect(findRefusedNames('a.ts', source).map((problem) => problem.split(' is ', 1)[0])).toEqual([
    'a.ts:1: "told"',
    'a.ts:2: "wanted"',
    'a.ts:3: "says"',
    'a.ts:4: "MOST_ROWS"',
    'a.ts:5: "#heard"',
    'a.ts:6: "Told"',
    'a.ts:6: "knows"',
  ]);
});
