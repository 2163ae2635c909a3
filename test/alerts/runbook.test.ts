import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { defaultRules } from '../../src/alerts/default-rules.ts';

const page = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8');
const [how = '', runbook = ''] = page.split('\n# What to do\n');
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text]),
);

it('the runbook has a section for every default rule, in their order, and no other', () => {
  expect([...sections.keys()]).toEqual(defaultRules.map(({ name }) => name));
});

it('each section tells how much the rule weighs, how long it waits, and its numbers', () => {
  for (const { name, severity, for: held, limits = {} } of defaultRules) {
    const text = (sections.get(name) ?? '').replaceAll(/\s+/g, ' ');
    expect(text.toLowerCase(), name).toContain(severity);
    if (held > 0)
      expect(text, name).toContain(
        held % 3_600_000 === 0 ? `after ${held / 3_600_000} hour` : `after ${held / 60_000} minute`,
      );
    for (const [limit, value] of Object.entries(limits))
      expect(text, name).toContain(`\`${limit}\` (${value})`);
  }
});

it('the page says which rules cannot be asked about the past', () => {
  const [, leftOut = ''] = /Left out, and said so: ([\s\S]*?) because/.exec(how) ?? [];
  const named = [...leftOut.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(
    defaultRules.flatMap(({ name, onlyNow }) => (onlyNow === undefined ? [] : [name])).sort(),
  );
});
