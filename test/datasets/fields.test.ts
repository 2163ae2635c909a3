import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, describe, expect, inject, it } from 'vitest';
import {
  columnOf,
  count,
  decimal,
  type Field,
  flag,
  json,
  list,
  lockTime,
  rfc3339,
  text,
  uint,
  unixSeconds,
} from '../../src/datasets/fields.ts';
import { originalText } from '../../src/datasets/storable-text.ts';
import { arrayLiteral } from '../../src/db/postgres-workarounds/array-types.ts';
import { parseJson } from '../../src/upstreams/json.ts';

const sql = postgres(inject('databaseUrl'), { max: 1 });
afterAll(() => sql.end());

/** Returns the value that a field parses from a JSON text; null: refused. */
function read(field: Field, source: string): string | null {
  const result = field.safeParse(parseJson(source));
  return result.success ? result.data : null;
}

/**
 * Returns the texts that PostgreSQL stores in a column of the field's type, inserted like rows; expected to be
 * unchanged.
 */
async function storeTexts(field: Field, ...texts: string[]): Promise<(string | null)[]> {
  const type = columnOf(field)?.type ?? 'text';
  const rows = await sql.unsafe<{ value: string | null; read: string | null }[]>(
    `select u::text as value, t::${type}::text as read from unnest($1::text::${type}[], $2::text[]) with ordinality as u(u, t, n) order by n`,
    [arrayLiteral(texts), texts],
  );
  expect(rows.map(({ value }) => value)).toEqual(rows.map(({ read }) => read));
  return rows.map(({ value }) => value);
}

const fields: readonly (readonly [string, Field])[] = [
  ['text', text()],
  ['uint', uint()],
  ['decimal', decimal()],
  ['count', count()],
  ['flag', flag()],
  ['unixSeconds', unixSeconds()],
  ['rfc3339', rfc3339()],
  ['json', json()],
  ['list', list()],
];

const digits = fc.stringMatching(/^(0|[1-9]\d{0,90})$/);
const quote = (text: string) => `"${text}"`;
const odd = fc.constantFrom(
  ...['-0', '0.0', '-1', '1e5', '1E+2', '1e400', '1e-400', '18446744073709551615'],
  ...['"-0"', '""', '" "', '"0x10"', '"1_000"', '"NaN"', '"Infinity"', '"١٢"', '"1e9"', '1e9'],
  ...['253402300799', '253402300800', '9999999999999999', '99999999999999999'],
  ...['2026-01-10T00:00:00Z', '2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-10T25:00:00Z'].map(
    quote,
  ),
  ...['2026-01-10T00:00:60Z', '2026-01-10T00:00:61Z', '2026-01-10T00:00:00+99:00'].map(quote),
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '2026-01-10T00:00:00.123456789+05:30'].map(quote),
  ...['"\\u0000"', '"\\ud800"', '"\\\\u0000"', '["\\u0000"]', '["\\\\u0000"]', '{"\\udc00":1}'],
  ...['"NULL"', '"{a,\\"b\\\\}"'],
);
const anyJson = fc.oneof(
  fc.json({ stringUnit: 'binary' }),
  digits,
  digits.map((one) => `"${one}"`),
  fc.tuple(digits, digits).map(([whole, part]) => `-${whole}.${part}`),
  fc.date({ noInvalidDate: true }).map((date) => JSON.stringify(date)),
  odd,
);

describe.each(fields)('%s', (_, field) => {
  it('accepts no value that PostgreSQL would refuse: no value blocks its page', async () => {
    await fc.assert(
      fc.asyncProperty(anyJson, async (source) => {
        const passed = read(field, source);
        if (passed !== null) expect(await storeTexts(field, passed)).toEqual([expect.any(String)]);
      }),
      { numRuns: 300 },
    );
  });

  it('refuses a missing value', () => {
    expect(field.safeParse(undefined).success).toBe(false);
  });
});

describe('text', () => {
  it('is kept unchanged; characters that PostgreSQL refuses are escaped reversibly', async () => {
    const string = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(string, async (value) => {
        const [storedText] = await storeTexts(text(), read(text(), JSON.stringify(value)) ?? 'refused');
        expect(originalText(storedText ?? '')).toBe(value);
        if (!value.includes('\0') && value.isWellFormed() && !value.includes('\\u'))
          expect(storedText).toBe(value);
      }),
    );
    expect(read(text(), '"a\\u0000\\ud800"')).toBe('a\\u0000\\ud800');
  });

  it.each(['1', 'null', 'true', '{}', '[]'])('is not %s', (source) => {
    expect(read(text(), source)).toBeNull();
  });
});

describe('numbers', () => {
  it('of any length are exact, as JSON numbers and as strings', async () => {
    await fc.assert(
      fc.asyncProperty(digits, async (source) => {
        for (const field of [uint(), decimal()])
          for (const json of [source, `"${source}"`])
            expect(await storeTexts(field, read(field, json) ?? 'refused')).toEqual([source]);
      }),
    );
  });

  it('with decimals are exact', async () => {
    const decimals = fc
      .tuple(fc.constantFrom('', '-'), digits, fc.stringMatching(/^\d{1,60}$/))
      .map(([sign, whole, part]) => `${sign}${whole}.${part}`);
    await fc.assert(
      fc.asyncProperty(decimals, async (source) => {
        for (const json of [source, `"${source}"`]) {
          const [row] = await sql<{ same: boolean }[]>`
            select ${read(decimal(), json) ?? 'NaN'}::text::numeric = ${source}::text::numeric as same`;
          expect(row?.same, json).toBe(true);
        }
      }),
    );
  });

  it.each([
    ['1e5', '100000'],
    ['1.25E-3', '0.00125'],
    ['-2e2', '-200'],
  ])('with an exponent are exact: %s', async (source, expected) => {
    expect(await storeTexts(decimal(), read(decimal(), source) ?? 'refused')).toEqual([expected]);
  });

  it.each(['-0', '{"a":-0,"b":12345678901234567890}'])(
    'are zero if they are minus zero: %s',
    async (source) => {
      const value = parseJson(source);
      const zero = typeof value === 'object' && value !== null ? Reflect.get(value, 'a') : value;
      for (const field of [uint(), decimal(), count()]) {
        const result = field.safeParse(zero);
        expect(result.success && (await storeTexts(field, result.data))).toEqual(['0']);
      }
    },
  );

  it.each([
    ...['-1', '1.5', '"-1"', '""', '"abc"', '"NaN"', '" 1"', 'true', 'null', '[]', '1e400'],
    `"${'9'.repeat(2000)}"`,
  ])('that are no unsigned integers are refused: %s', (source) => {
    expect(read(uint(), source)).toBeNull();
    expect(read(count(), source)).toBeNull();
  });

  it.each(['"NaN"', '"Infinity"', '"-Infinity"', '""', '"1,5"', '"."', '"1."', 'null', 'true'])(
    'that are no decimals are refused: %s',
    (source) => {
      expect(read(decimal(), source)).toBeNull();
    },
  );
});

describe('times', () => {
  it('of any second until the year 9999 are exact', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 253_402_300_799 }), async (seconds) => {
        for (const source of [`${seconds}`, `"${seconds}"`]) {
          const [row] = await sql<{ seconds: string }[]>`
            select extract(epoch from ${read(unixSeconds(), source) ?? ''}::text::timestamptz)::bigint::text as seconds`;
          expect(row?.seconds).toBe(String(seconds));
        }
      }),
    );
  });

  it.each(['-1', '1.5', '""', '" "', '"abc"', 'null', 'true', '1e300', '253402300800', '[]'])(
    'that are no Unix seconds are refused: %s',
    (source) => {
      expect(read(unixSeconds(), source)).toBeNull();
    },
  );

  it('of a lock keep their number, and are null beyond the range of dates', () => {
    const parseLockTime = (source: string) => lockTime().safeParse(parseJson(source)).data;
    const last = '9999-12-31T23:59:59.000Z';
    for (const quote of ['', '"']) {
      const read = (digits: string) => parseLockTime(`${quote}${digits}${quote}`);
      expect(read('0')).toEqual({ value: '1970-01-01T00:00:00.000Z', raw: '0' });
      expect(read('253402300799')).toEqual({ value: last, raw: '253402300799' });
      for (const beyond of ['253402300800', '18446744073709551615'])
        expect(read(beyond)).toEqual({ value: null, raw: beyond });
    }
    for (const none of ['-1', '1.5', '""', '"forever"', 'null', '[]'])
      expect(parseLockTime(none)).toBeUndefined();
  });

  it('in RFC 3339 keep their instant to the microsecond', async () => {
    const source = '"2026-01-10T05:30:00.123456789+05:30"';
    const [row] = await sql<{ at: string }[]>`
      select to_char(${read(rfc3339(), source) ?? ''}::text::timestamptz at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as at`;
    expect(row?.at).toBe('2026-01-10 00:00:00.123456');
  });

  it.each(['9999-12-31T23:59:59', '2026-12-31T23:59:59', '2026-02-28T23:59:59', '2026-01-10T05:59:59'])(
    'in RFC 3339 never round up: %s.9999995Z',
    async (second) => {
      for (const digits of ['9999995', '99999999', '999999999']) {
        const [row] = await sql<{ at: string }[]>`
          select to_char(${read(rfc3339(), `"${second}.${digits}Z"`) ?? ''}::text::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as at`;
        expect(row?.at).toBe(`${second}.999999`);
      }
    },
  );

  it.each(['"2026-01-10"', '"yesterday"', '"now"', '"infinity"', '1763600000', 'null'])(
    'that are not in RFC 3339 are refused: %s',
    (source) => {
      expect(read(rfc3339(), source)).toBeNull();
    },
  );
});

describe('json', () => {
  it('keeps any value, numbers exact', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), digits, async (source, number) => {
        const whole = `{"value":${source},"number":${number},"part":0.${number}}`;
        if (/\\u0000|\\u[dD][89a-fA-F]/.test(source)) return;
        const [row] = await sql<{ same: boolean; number: string }[]>`
          select j::jsonb = ${whole}::text::jsonb as same, j::jsonb ->> 'number' as number
          from (values (${read(json(), whole) ?? 'null'}::text)) as v(j)`;
        expect(row).toEqual({ same: true, number });
      }),
    );
  });
});
