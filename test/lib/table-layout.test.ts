import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { createTableLayout, type LayoutColumn, type Overflow } from '../../src/lib/table-layout.ts';

const columns: readonly LayoutColumn[] = [
  { name: 'dataset', kind: 'text' },
  { name: 'last_success_at', kind: 'time' },
  { name: 'rows_today', kind: 'number' },
  { name: 'reason', kind: 'text' },
];
const row = [
  'metric_points',
  '2026-11-22 04:52:55+01:00',
  '1234567',
  'the service answered 503 four times in a row',
];

function table(
  width: number | null,
  overflow: Overflow,
  rows: readonly (readonly string[])[] = [row],
): string {
  const layout = createTableLayout(columns, rows, width, overflow);
  return layout.heading() + rows.map(layout.text).join('');
}

describe('a table', () => {
  it('is as wide as its texts without a limit', () => {
    expect(table(null, 'wrap')).toBe(
      'dataset        last_success_at            rows_today  reason\n' +
        'metric_points  2026-11-22 04:52:55+01:00     1234567  the service answered 503 four times in a row\n',
    );
  });

  it('wraps texts and names in a narrow space, and truncates neither numbers nor times', () => {
    expect(table(66, 'wrap').split('\n')).toEqual([
      'dataset        last_success_at            rows_today  reason',
      'metric_points  2026-11-22 04:52:55+01:00     1234567  the service',
      `${' '.repeat(54)}answered 503`,
      `${' '.repeat(54)}four times`,
      `${' '.repeat(54)}in a row`,
      '',
    ]);
    expect(table(59, 'wrap').split('\n').slice(0, 3)).toEqual([
      `${' '.repeat(44)}rows_`,
      'dataset        last_success_at              today  reason',
      'metric_points  2026-11-22 04:52:55+01:00  1234567  the',
    ]);
  });

  it('truncates instead if requested, a row a line', () => {
    const lines = table(66, 'shorten').trimEnd().split('\n');
    expect(lines.at(-1)).toMatch(/^metric_poin… {2}2026-11-22 04:52:55\+01:00 +1234567 {2}the .*…$/);
  });

  it('is not a character too wide if a wide character fits only by half', () => {
    const wide = [row[0] ?? '', row[1] ?? '', row[2] ?? '', '世界'.repeat(40)];
    for (const overflow of ['shorten', 'wrap'] as const)
      for (let width = 60; width < 80; width++)
        for (const line of table(width, overflow, [wide]).split('\n'))
          expect(stringWidth(line), `${overflow} ${width}`).toBeLessThanOrEqual(width);
  });

  it('prints more rows than a call can have arguments', () => {
    const rows = Array.from({ length: 150_000 }, () => row);
    expect(table(null, 'wrap', rows).split('\n')).toHaveLength(rows.length + 2);
  });

  it('becomes a list with all values if not even the numbers fit', () => {
    const list = table(30, 'wrap');
    expect(list).toMatch(/^dataset {10}metric_points\n/);
    expect(list.replaceAll(/\s+/g, '')).toContain('theserviceanswered503fourtimesinarow');
  });

  it('counts terminal columns, not letters', () => {
    const rows = [
      ['世界', 'now', '1', 'wide'],
      ['e\u0301a', 'now', '22', 'narrow'],
    ];
    const [, first = '', second = ''] = table(null, 'wrap', rows).split('\n');
    expect(stringWidth(first.slice(0, first.indexOf('wide')))).toBe(
      stringWidth(second.slice(0, second.indexOf('narrow'))),
    );
  });

  it('fits a terminal of any usual width, whatever the texts', () => {
    const text = fc
      .string({ unit: 'grapheme', maxLength: 60 })
      .map((one) => one.replaceAll(/[\p{C}\s]/gu, 'x'));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 60, max: 120 }),
        fc.constantFrom('wrap' as const, 'shorten' as const),
        (pairs, width, overflow) => {
          const rows = pairs.map(([one, other]) => [one, '2026-11-22 04:52:55Z', '1234567', other]);
          for (const line of table(width, overflow, rows).split('\n'))
            expect(stringWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
      // A grapheme of three characters, each of which takes a column.
      {
        examples: [
          [
            [
              ['', 'xx\u{1d158}\u{1d165}\u{1d16e}x⺀\u{1d158}\u{1d165}\u{1d16e}⛪'],
              ['xx⺀⺀x⺀xxx\u{1d158}\u{1d165}\u{1d16e}', ''],
              ['', ''],
            ],
            60,
            'wrap',
          ],
          [
            [
              ['xxxxxxxxx', '\u{16fe0}⺀\u{16fe0}xx\u{1d158}\u{1d165}\u{1d16e}🆎x⺀'],
              ['', ''],
            ],
            60,
            'shorten',
          ],
        ],
      },
    );
  });
});
