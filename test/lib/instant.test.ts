import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { parseExactInstant, parseInstant } from '../../src/lib/instant.ts';

const at = (text: string) => {
  const instant = parseInstant(text);
  return instant === null ? null : new Date(instant).toISOString();
};

describe('a time', () => {
  it.each([
    ['2026-01-01', '2026-01-01T00:00:00Z'],
    ['2026-01-01T10:00:00.25+02:00', '2026-01-01T08:00:00.250Z'],
    ['2026-03-20 12:00:00.123456+00', '2026-03-20T12:00:00.123456Z'],
    ['2026-03-20T12:00:00.000001', '2026-03-20T12:00:00.000001Z'],
    ['2026-03-20T12:00:00.9999996Z', '2026-03-20T12:00:01Z'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999Z'],
    ['3000-01-01T00:00:00.123456Z', '3000-01-01T00:00:00.123456Z'],
    ['9999-12-31T23:59:59.9999999Z', null],
    ['yesterday', null],
  ])('%s is exactly %s', (text, exact) => expect(parseExactInstant(text)).toBe(exact));

  it.each([
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['2026-01-01T10:00', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01 10:00', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01 10:00:05.25', '2026-01-01T10:00:05.250Z'],
    ['2026-01-01T10:00Z', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01T10:00:00+02:00', '2026-01-01T08:00:00.000Z'],
    ['2026-01-01 10:00 -0330', '2026-01-01T13:30:00.000Z'],
    ['2026-01-01 10:00:00+02', '2026-01-01T08:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, instant) => expect(at(text)).toBe(instant));

  it.each([
    '',
    'yesterday',
    '1',
    '2026',
    '2026-01',
    '2026-02-30',
    '2025-02-29T10:00',
    '2026-13-01',
    '2026-01-01T25:00',
    '2026-01-01T10:60',
    '2026-01-01T10',
    '01/02/2026',
    'Jan 1 2026',
    '2026-01-01T10:00 EST',
    '2026-01-01+02:00',
    '0000-01-01',
    '99999-01-01',
    '0001-01-01T00:00+12:00',
    '9999-12-31T23:00-05:00',
    '+2026-01-01',
    '٢٠٢٦-01-01',
    '2026-1-1',
  ])('is not parsed from %j', (text) => expect(parseInstant(text)).toBeNull());

  it('without a zone equals the time with Z, for every minute', () => {
    const minute = fc.date({
      min: new Date('0001-01-01T00:00Z'),
      max: new Date('9999-12-31T23:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(minute, (date) => {
        const text = date.toISOString().slice(0, 16);
        const whole = Date.parse(`${text}Z`);
        expect([parseInstant(text), parseInstant(text.replace('T', ' ')), parseInstant(`${text}Z`)]).toEqual([
          whole,
          whole,
          whole,
        ]);
      }),
    );
  });

  it('without a zone is UTC on a machine in New York', () => {
    const script = `import { parseExactInstant, parseInstant } from ${JSON.stringify(resolve(import.meta.dirname, '../../src/lib/instant.ts'))};
      process.stdout.write(JSON.stringify([new Date(2026, 0, 1).getTimezoneOffset(), ...['2026-01-01', '2026-01-01T10:00', '2026-01-01 10:00'].map(parseInstant)]));`;
    const output = execFileSync(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script],
      { env: { PATH: process.env.PATH, TZ: 'America/New_York' }, encoding: 'utf8' },
    );
    const ten = Date.UTC(2026, 0, 1, 10);
    expect(JSON.parse(output)).toEqual([300, Date.UTC(2026, 0, 1), ten, ten]);
  });
});

describe('a time in recorder.yaml', () => {
  const windowOf = (from: string) =>
    validateConfig(
      { network: 'mainnet', health: { maintenance: [{ from, to: '2026-01-02' }] } },
      catalogNames,
      'test.yaml',
    ).health.maintenance.once;

  it('without a zone is UTC', () => {
    const ten = Date.UTC(2026, 0, 1, 10);
    for (const text of ['2026-01-01T10:00', '2026-01-01 10:00', '2026-01-01T11:00:00+01:00'])
      expect(windowOf(text)).toEqual([{ nodes: null, from: ten, to: Date.UTC(2026, 0, 2) }]);
  });

  it('is refused with an example if it is invalid', () => {
    for (const text of ['tomorrow', '2026-02-30', '2026-01-01T10:00 EST'])
      expect(() => windowOf(text)).toThrow(/maintenance\[0\]\.from: .*2026-12-01T02:00/);
  });
});
