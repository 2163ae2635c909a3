import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBody } from '../../src/alerts/message.ts';
import {
  escapeHtml,
  escapeHtmlDocument,
  escapeMarkdown,
  escapeSpreadsheetText,
  escapeUnsafeLines,
  escapeUnsafeText,
  messageText,
} from '../../src/lib/safe-text.ts';
import { badgeOf } from '../../src/server/badge.tsx';

/** What a terminal, a browser or a chat would obey. */
const ACTING = [
  ...'\u0000\u0007\b\u001b\u007f\u009b\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\ud800',
  '\u{e0041}',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...ACTING, '\n', '\r', '\t', '<', '*', '`'), fc.string()))
  .map((parts) => parts.join(''));

it.each(
  Object.entries({
    printable: escapeUnsafeText,
    messageText,
    markdownText: escapeMarkdown,
    spreadsheetText: escapeSpreadsheetText,
  }),
)('%s leaves no character that acts, and no further line', (_, safe) => {
  fc.assert(
    fc.property(hostile, (text) => {
      const written = safe(text);
      for (const one of [...ACTING, '\n', '\r', '\t']) expect(written.includes(one)).toBe(false);
    }),
  );
});

it.each(
  Object.entries({
    safeDocument: escapeHtmlDocument,
    printableLines: escapeUnsafeLines,
    htmlText: escapeHtml,
  }),
)('%s leaves line ends only', (_, safe) => {
  fc.assert(
    fc.property(hostile, (text) => {
      const written = safe(text);
      for (const one of ACTING) expect(written.includes(one)).toBe(false);
    }),
  );
});

it('shows what it escapes, and changes nothing else', () => {
  expect(escapeUnsafeText('a\u001b[2Jb\u202ec\r\n')).toBe('a\\u001b[2Jb\\u202ec\\u000d\\u000a');
  expect(escapeUnsafeText('\u{e0041}')).toBe('\\udb40\\udc41');
  expect(escapeUnsafeText('ä€😀 中文 اب 👩‍👩‍👧')).toBe('ä€😀 中文 اب 👩‍👩‍👧');
  expect(escapeHtmlDocument('<pre>a\n\tb\u202e</pre>')).toBe('<pre>a\n\tb\\u202e</pre>');
  expect(escapeHtml(`<a href='"'>&`)).toBe('&lt;a href=&#39;&quot;&#39;&gt;&amp;');
  expect(messageText('down \r\n\n FIRING: fake')).toBe('down FIRING: fake');
  expect(escapeMarkdown('[x](http://e)\n| `y`')).toBe('\\[x\\](http://e) \\| \\`y\\`');
});

it('a message has no line that an upstream wrote', () => {
  const alert = {
    id: 1,
    rule: 'node-down',
    subject: 'one\u202e\nFIRING',
    severity: 'critical' as const,
    summary: 'failed: boom\n[RESOLVED] all is well\u2028and more',
    since: null,
    firedAt: null,
    resolvedAt: null,
    flapping: false,
    details: { subjects: ['two\u202e\nRESOLVED', 3, null], 'a\u2066key': { state: 'down\u001b[2J' } },
  };
  const sender = { recorder: 'recorder', network: 'mainnet', runbook: null };
  const [item] = createBody('firing', 'node-down', 'about', [alert as never], sender, new Date(0)).items;
  expect(item?.summary).toBe('failed: boom [RESOLVED] all is well and more');
  expect(item?.subject).toBe('one\\u202e FIRING');
  expect(item?.details).toEqual({
    subjects: ['two\\u202e RESOLVED', 3, null],
    'a\\u2066key': { state: 'down\\u001b[2J' },
  });
});

it('a badge has no character that acts', () => {
  const span = { up: 1, down: 0, maintenance: 0, unknown: 0 };
  const node = { node: 'one\u202e\u0007', state: 'up', spans: { day: span } };
  const badge = badgeOf(node as never);
  expect(badge).toContain('one\\u202e\\u0007');
  for (const one of ACTING) expect(badge.includes(one)).toBe(false);
});
