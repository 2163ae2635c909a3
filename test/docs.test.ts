import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { checksPage } from '../src/checks/page.ts';
import { editorSchema } from '../src/config/editor-schema.ts';
import { settingsPage } from '../src/config/settings-page.ts';
import { catalogNames } from '../src/configured-feeds.ts';
import { dictionary } from '../src/reports/dictionary.ts';
import { recipes } from '../src/reports/recipes.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

it.each([
  ['docs/checks.md', checksPage],
  ['docs/datasets.md', dictionary],
  ['docs/recipes.md', recipes],
  ['docs/settings.md', () => settingsPage(catalogNames)],
  ['docs/recorder.schema.json', () => editorSchema(catalogNames)],
])('%s is current (npm run docs writes it)', (file, made) => {
  expect(read(file)).toBe(made());
});

it('the README tells every command', () => {
  const commands = [...read('src/cli.ts').matchAll(/^command\('([a-z]+)'/gm)].map(([, name = '']) => name);
  expect(commands).toContain('up');
  expect(commands).toContain('sandbox');
  const [, table = ''] = read('README.md').split('| command | does |');
  const cells = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split(/(?<!\\)\|/)[1] ?? '');
  const told = cells.flatMap((cell) => [...cell.matchAll(/`([a-z]+)\b[^`]*`/g)].map(([, name = '']) => name));
  // A command may have a line for each way to call it.
  expect([...new Set(told)].sort()).toEqual(commands.sort());
});
