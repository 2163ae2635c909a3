import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withAnswerTable } from '../../scripts/docs/answer-table.ts';
import { checksPage } from '../../scripts/docs/checks-page.ts';
import { commandLinePage } from '../../scripts/docs/cli-page.ts';
import { dictionaryPages } from '../../scripts/docs/dictionary.ts';
import { metricsPage } from '../../scripts/docs/metrics-page.ts';
import { recipes } from '../../scripts/docs/recipes.ts';
import { formatSettingsPage } from '../../scripts/docs/settings-page.ts';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { editorSchema } from '../../src/config/editor-schema.ts';
import { isPublic } from '../../src/db/declared.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { reports } from '../../src/reporting/reports/saved-queries.ts';
import { declaredObjects } from '../../src/reporting/views/declared-objects.ts';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const dictionary = dictionaryPages();

it.each([
  ['docs/reference/checks.md', checksPage],
  ['docs/reference/cli.md', commandLinePage],
  ['docs/reference/metrics.md', metricsPage],
  ['docs/reference/questions.md', recipes],
  ['docs/reference/settings.md', () => formatSettingsPage(catalogNames)],
  ['docs/recorder.schema.json', () => editorSchema(catalogNames)],
  ['docs/explanation/uptime.md', () => withAnswerTable(read('docs/explanation/uptime.md'))],
  ...[...dictionary].map(([path, text]): [string, () => string] => [`docs/reference/${path}`, () => text]),
])('%s is current (npm run docs writes it)', (file, generate) => {
  expect(read(file)).toBe(generate());
});

describe('the data dictionary', () => {
  const all = [...dictionary.values()].join('\n');

  it('contains everything in reporting, and every report', () => {
    const objects = declaredObjects()
      .filter(isPublic)
      .map(({ name }) => name);
    expect(objects).toEqual(expect.arrayContaining(['coverage', 'node_uptime', 'subnets_as_of', 'income']));
    const isListed = (name: string) => all.includes(`\`${name}\``) || all.includes(`\`${name}(`);
    expect(objects.filter((name) => !isListed(name))).toEqual([]);
    const questions = recipes();
    expect(
      reports().filter(
        ({ name }) => !questions.includes(`| \`${name}\` |`) && !questions.includes(`| [\`${name}\`](#`),
      ),
    ).toEqual([]);
  });

  it('has a page for each dataset, and no other', () => {
    expect(readdirSync(new URL('../../docs/reference/datasets/', import.meta.url)).sort()).toEqual(
      [...recorded.map(({ name }) => `${name}.md`), 'README.md'].sort(),
    );
  });

  it('lists the operations of each dataset', () => {
    for (const { name, operations } of recorded) {
      const page = dictionary.get(`datasets/${name}.md`) ?? '';
      const line = page.split('\n').find((one) => one.startsWith('- recorded from ')) ?? '';
      for (const operation of operations) expect(line).toContain(`\`${operation}\``);
    }
  });
});
