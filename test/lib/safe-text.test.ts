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

/** Characters that control a terminal, a browser or a chat. */
const ACTING = [
  ...'\u0000\u0007\b\u001b\u007f\u009b\u061c\u200b\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\ud800',
  ...'\u00ad\u180e\u{1d173}\u{e0041}',
  // No XML document may contain these: a browser shows no image at all.
  ...'\ufffe\uffff',
];
const MARKUP = ['<', '>', '&', '"', "'", '*', '`', '<title>', '&lt;', '&#8238;', ']]>'];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...ACTING, ...MARKUP, '\n', '\r', '\t'), fc.string()))
  .map((parts) => parts.join(''));

it.each(
  Object.entries({
    printable: escapeUnsafeText,
    messageText,
    markdownText: escapeMarkdown,
    spreadsheetText: escapeSpreadsheetText,
  }),
)('%s leaves no control character, and no further line', (_, safe) => {
  fc.assert(
    fc.property(hostile, (text) => {
      const escaped = safe(text);
      for (const one of [...ACTING, '\n', '\r', '\t']) expect(escaped.includes(one)).toBe(false);
    }),
  );
});

it.each(
  Object.entries({
    safeDocument: escapeHtmlDocument,
    printableLines: escapeUnsafeLines,
    htmlText: escapeHtml,
  }),
)('%s leaves line breaks only', (_, safe) => {
  fc.assert(
    fc.property(hostile, (text) => {
      const escaped = safe(text);
      for (const one of ACTING) expect(escaped.includes(one)).toBe(false);
    }),
  );
});

it('escapes visibly, and changes nothing else', () => {
  expect(escapeUnsafeText('a\u001b[2Jb\u202ec\r\n')).toBe('a\\u001b[2Jb\\u202ec\\u000d\\u000a');
  expect(escapeUnsafeText('\u{e0041}')).toBe('\\udb40\\udc41');
  expect(escapeUnsafeText('ä€😀 中文 اب \u0600\u06dd 👩‍👩‍👧')).toBe('ä€😀 中文 اب \u0600\u06dd 👩‍👩‍👧');
  expect(escapeHtmlDocument('<pre>a\n\tb\u202e</pre>')).toBe('<pre>a\n\tb\\u202e</pre>');
  expect(escapeHtml(`<a href='"'>&`)).toBe('&lt;a href=&#39;&quot;&#39;&gt;&amp;');
  expect(messageText('down \r\n\n FIRING: fake')).toBe('down FIRING: fake');
  expect(escapeMarkdown('[x](http://e)\n| `y`')).toBe('\\[x\\](http://e) \\| \\`y\\`');
});

it('a message has no line break from an upstream', () => {
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
  const sender = { recorder: 'recorder', network: 'mainnet', runbook: null, publicUrl: null };
  const [item] = createBody('firing', 'node-down', 'about', [alert as never], sender, new Date(0)).items;
  expect(item?.summary).toBe('failed: boom [RESOLVED] all is well and more');
  expect(item?.subject).toBe('one\\u202e FIRING');
  expect(item?.details).toEqual({
    subjects: ['two\\u202e RESOLVED', 3, null],
    'a\\u2066key': { state: 'down\\u001b[2J' },
  });
});

it('a badge has no control character and no markup from a text, and shows the text', () => {
  const span = { up: 1, down: 0, maintenance: 0, unknown: 0 };
  const badge = (node: string) => badgeOf({ node, state: 'up', spans: { day: span } } as never);
  const tags = (svg: string) => svg.replaceAll(/ (?:width|x|d|aria-label)="[^"]*"/g, '').match(/<[^>]*>/g);
  const entities = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };
  const unescapeHtml = (text = '') =>
    text.replaceAll(/&(.*?);/g, (_, name: keyof typeof entities) => entities[name] ?? 'unknown');
  const expected = tags(badge('one'));
  fc.assert(
    fc.property(hostile, (node) => {
      const svg = badge(node);
      for (const one of ACTING) expect(svg.includes(one)).toBe(false);
      expect(tags(svg)).toEqual(expected);
      const label = escapeHtmlDocument(node);
      const [, title] = /<title>([^<]*)</.exec(svg) ?? [];
      const [, aria] = /aria-label="([^"]*)"/.exec(svg) ?? [];
      const [, text] = /<text [^>]*>([^<]*)</.exec(svg) ?? [];
      expect([title, aria, text].map(unescapeHtml)).toEqual([`${label}: up`, `${label}: up`, label]);
    }),
  );
});
