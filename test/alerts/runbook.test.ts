import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { defaultRules } from '../../src/alerts/default-rules.ts';
import { getAdvice, groupIntoBodies } from '../../src/alerts/message.ts';
import type { Alert } from '../../src/alerts/state.ts';

const readPage = (page: string) =>
  readFileSync(new URL(`../../docs/how-to/${page}.md`, import.meta.url), 'utf8');
const alertsPage = readPage('alerts');
const [runbook = ''] = readPage('runbook').split('\n## After an incident\n');
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.slice(0, text.indexOf('\n')), text]),
);

it('has a section for every default rule, in their order, and no other', () => {
  expect([...sections.keys()]).toEqual(defaultRules.map(({ name }) => name));
});

it('a message contains the fix for every default rule in at most two lines', () => {
  for (const { name } of defaultRules) {
    const advice = getAdvice(name);
    expect(advice, name).not.toContain('the query of the rule');
    expect(advice.length, name).toBeLessThan(200);
    expect(advice, name).not.toMatch(/docs\/|\.md/);
  }
});

it('a message links the section of the runbook, and the page of the node or of the rule', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const sender = { recorder: 'recorder', network: 'fuji', runbook: null, publicUrl: null };
  const alert: Alert = {
    ...{ id: 1, rule: 'disk-full', subject: 'disk', severity: 'warning', state: 'firing' },
    ...{ summary: 'full soon', since: now, beganAt: now, firedAt: now, resolvedAt: null, details: null },
    ...{ flapping: false, acknowledged: false, reportedMs: 0, absentMs: 0, sinceNoticeMs: 0 },
  };
  const bodies = (runbook: string | null) =>
    groupIntoBodies([{ alert, kind: 'firing' }], defaultRules, { ...sender, runbook }, now);
  expect(bodies(null)).toMatchObject([{ advice: getAdvice('disk-full'), runbook: null, page: null }]);
  expect(bodies('https://wiki.example/r')).toMatchObject([{ runbook: 'https://wiki.example/r#disk-full' }]);
  const pageOf = (rule: string, ...subjects: readonly string[]) =>
    groupIntoBodies(
      subjects.map((subject) => ({ alert: { ...alert, rule, subject }, kind: 'firing' })),
      defaultRules,
      { ...sender, publicUrl: 'https://recorder.example' },
      now,
    ).map(({ page }) => page?.replace('https://recorder.example', ''));
  expect(pageOf('disk-full', 'disk')).toEqual(['/alerts?rule=disk-full']);
  expect(pageOf('node-down', 'n1', 'n1 2XDn')).toEqual(['/status/n1']);
  expect(pageOf('node-identity', 'n1')).toEqual(['/alerts?rule=node-identity']);
  expect(pageOf('node-down', 'n1', 'n2')).toEqual(['/alerts?rule=node-down']);
});

it('each section states the severity, the delay and the limits of the rule', () => {
  for (const { name, severity, for: delay, limits = {} } of defaultRules) {
    const text = (sections.get(name) ?? '').replaceAll(/\s+/g, ' ');
    expect(text.toLowerCase(), name).toContain(severity);
    if (delay > 0)
      expect(text, name).toContain(
        delay % 3_600_000 === 0 ? `after ${delay / 3_600_000} hour` : `after ${delay / 60_000} minute`,
      );
    for (const [limit, value] of Object.entries(limits))
      expect(text, name).toContain(`\`${limit}\` (${value})`);
  }
});

it('the page lists the rules that cannot be replayed', () => {
  const [, excluded = ''] =
    /Replay excludes some rules, and lists them: ([\s\S]*?) because/.exec(alertsPage) ?? [];
  const named = [...excluded.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(
    defaultRules.flatMap(({ name, onlyNow }) => (onlyNow === undefined ? [] : [name])).sort(),
  );
});
