import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeJsonMessage, normalizeMessage } from '../../src/health/normalize-message.ts';

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const stringOf = (alphabet: string, min: number, max: number) =>
  fc
    .array(fc.constantFrom(...alphabet), { minLength: min, maxLength: max })
    .map((characters) => characters.join(''));

const unit = fc.constantFrom('ns', 'µs', 'ms', 's', 'm', 'h');
const duration = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.option(fc.nat(999)), unit), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) =>
    parts
      .map(([n, fraction, unitName]) => `${n}${fraction === null ? '' : `.${fraction}`}${unitName}`)
      .join(''),
  );
const count = fc.oneof(
  fc.nat().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e12 }).map(String),
);
const percentage = fc.tuple(fc.nat(100), fc.nat(99)).map(([integer, fraction]) => `${integer}.${fraction}%`);
const id = fc.oneof(
  // An id of 32 bytes has 49 or 50 digits in base58; one in 10^12 has no capital letter.
  stringOf(BASE58, 49, 50).filter((text) => /[A-Z]|\d/.test(text)),
  stringOf(BASE58, 30, 33).map((text) => `NodeID-${text}`),
  stringOf('0123456789abcdef', 40, 64).map((text) => `0x${text}`),
  stringOf('0123456789abcdef', 64, 64).filter((text) => /\d/.test(text)),
);
const time = fc
  .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
  .map((date) => date.toISOString());
/** Each kind of variable part, twice. */
const pair = fc.oneof(...[duration, count, percentage, id, time].map((kind) => fc.tuple(kind, kind)));

const word = fc
  .string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), minLength: 1, maxLength: 12 })
  .filter((text) => !/^(?:and)$/.test(text));
const names = fc.constantFrom('C', 'P', 'X', 'C2', 'v1.11.3', 'chain-7', 'p2p', 'network');
const separator = fc.constantFrom(' ', ' > ', ', ', ' (', ') ', ': ', '=', ' of ');
/** A text of words with variable parts between them, at two moments. */
const moments = fc
  .array(fc.tuple(fc.oneof(word, names), separator, pair, separator), { minLength: 1, maxLength: 5 })
  .map((parts) =>
    [0, 1].map((at) =>
      parts.map(([text, before, variants, after]) => text + before + variants[at] + after).join(''),
    ),
  );

describe('messages that differ only in variable parts', () => {
  it('are equal', () => {
    fc.assert(
      fc.property(moments, ([one = '', other = '']) => {
        expect(normalizeMessage(other)).toBe(normalizeMessage(one));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['block processing time 54m47.7s > 2m0s', 'block processing time 1h2m3.4s > 2m0s'],
    ['connected to 66.58% of stake', 'connected to 7% of stake'],
    ['took 500ms, 1µs', 'took 1.5s, 20ns'],
    [
      'disconnected: [NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg NodeID-MFrZFVCXPv5iCn6M9K6XduxGTYp891xXZ]',
      'disconnected: [NodeID-MFrZFVCXPv5iCn6M9K6XduxGTYp891xXZ]',
    ],
    ['at 2026-01-01T00:00:00Z', 'at 2026-01-01 10:11:12.3456 -0400 EDT m=+12.5'],
    ['HTTP 200 with invalid JSON of 12 characters', 'HTTP 200 with invalid JSON of 13 characters'],
  ])('such as %j', (one, other) => {
    expect(normalizeMessage(one)).toBe(normalizeMessage(other));
  });

  it('are equal in JSON, whatever the order of members', () => {
    const message = (peers: number, last: string, ids: string[]) => ({
      one: JSON.stringify({ peers, last, disconnected: ids }),
      other: JSON.stringify({ disconnected: ids, last, peers }),
    });
    const one = message(3, '2m3.5s', ['NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg']).one;
    const other = message(0.5, '9s', [
      'NodeID-MFrZFVCXPv5iCn6M9K6XduxGTYp891xXZ',
      'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg',
    ]).other;
    expect(normalizeJsonMessage(one)).toBe(normalizeJsonMessage(other));
  });
});

describe('messages that differ in a word', () => {
  it('are different', () => {
    fc.assert(
      fc.property(moments, word, word, ([one = '', other = ''], before, after) => {
        fc.pre(before !== after);
        expect(normalizeMessage(`${one} ${before}`)).not.toBe(normalizeMessage(`${other} ${after}`));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['connected to 1 peer', 'failing: C, P'],
    ['failing: C', 'failing: P'],
    ['chain C is behind', 'chain X is behind'],
    ['C2 failed', 'C3 failed'],
    ['needs v1.11.3', 'needs v1.12.0'],
    ['HTTP 502 instead of a health report', 'HTTP 503 instead of a health report'],
  ])('such as %j and %j', (one, other) => {
    expect(normalizeMessage(one)).not.toBe(normalizeMessage(other));
  });

  it('are different with another member', () => {
    expect(normalizeJsonMessage('{"peers":1}')).not.toBe(normalizeJsonMessage('{"stake":1}'));
    expect(normalizeJsonMessage('{"is":"late"}')).not.toBe(normalizeJsonMessage('{"is":"early"}'));
  });
});

it('are compared in linear time for texts of one repeated kind', () => {
  for (const text of ['1', 'a', 'A1', '\\', '#,', '1h', '1.', 'NodeID-', '0x', '-'])
    expect(normalizeMessage(text.repeat(64_000 / text.length)).length).toBeLessThanOrEqual(64_000);
});
