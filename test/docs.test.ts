import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withAnswerTable } from '../docs/answer-table.ts';
import { commandLinePage } from '../docs/cli-page.ts';
import { catalogNames } from '../src/app/configured-feeds.ts';
import { editorSchema } from '../src/config/editor-schema.ts';
import { formatSettingsPage } from '../src/config/settings-page.ts';
import { checksPage } from '../src/reporting/checks/checks-page.ts';
import { recorded } from '../src/reporting/recorded-datasets.ts';
import { dictionary } from '../src/reporting/reports/dictionary.ts';
import { reports } from '../src/reporting/reports/questions.ts';
import { recipes } from '../src/reporting/reports/recipes.ts';
import { declaredObjects } from '../src/reporting/views/declared-objects.ts';
import { metricsPage } from '../src/server/metrics/page.ts';

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

it.each([
  ['docs/checks.md', checksPage],
  ['docs/cli.md', commandLinePage],
  ['docs/datasets.md', dictionary],
  ['docs/monitoring.md', metricsPage],
  ['docs/recipes.md', recipes],
  ['docs/settings.md', () => formatSettingsPage(catalogNames)],
  ['docs/recorder.schema.json', () => editorSchema(catalogNames)],
  ['docs/uptime.md', () => withAnswerTable(read('docs/uptime.md'))],
])('%s is current (npm run docs writes it)', (file, made) => {
  expect(read(file)).toBe(made());
});

describe('the data dictionary', () => {
  const page = read('docs/datasets.md');

  it('names everything in reporting, and every report', () => {
    const objects = declaredObjects().map(({ name }) => name);
    expect(objects).toEqual(expect.arrayContaining(['coverage', 'node_uptime', 'subnets_as_of', 'income']));
    const told = (name: string) => page.includes(`\`${name}\``) || page.includes(`\`${name}(`);
    expect(objects.filter((name) => !told(name))).toEqual([]);
    expect(
      reports().filter(
        ({ name }) => !page.includes(`| \`${name}\` |`) && !page.includes(`| [\`${name}\`](recipes.md#`),
      ),
    ).toEqual([]);
  });

  it('has one place for each link into it', () => {
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
      text.toLowerCase().replaceAll(' ', '-'),
    );
    expect(new Set(headings).size).toBe(headings.length);
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, to]) => to);
    expect(links).toContain('income');
    expect(links.filter((to) => to === undefined || !headings.includes(to))).toEqual([]);
  });

  it('tells of each dataset from where it comes, in words that a user has', () => {
    for (const { name, operations } of recorded) {
      const [, section = ''] = page.split(`\n### ${name}\n`);
      const line = section.split('\n').find((one) => one.startsWith('- recorded from ')) ?? '';
      for (const operation of operations) expect(line).toContain(`\`${operation}\``);
    }
    expect(page).not.toMatch(/chain-data-api|metrics-api|node-rpc|\bseed/);
  });
});
