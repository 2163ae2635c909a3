import { z } from 'zod';
import type { DeclaredColumn } from '../../db/declared.ts';
import { INSTANT_EXAMPLE, parseExactInstant, parseInstant } from '../../lib/instant.ts';
import type { StatementBuilder } from './statement.ts';

/** The comparison of a column with a value. */
export type Operator = 'eq' | 'gte' | 'gt' | 'lte' | 'lt' | 'null' | 'prefix' | 'contains';

/**
 * A condition on a column. `value` is the text for PostgreSQL; for the operator `null`: `true` or `false`.
 */
export interface Filter {
  readonly column: string;
  /** The PostgreSQL type of the value. */
  readonly type: string;
  readonly operator: Operator;
  readonly value: string;
}

/** Maximum length of a parameter, in characters. */
const MAX_PARAMETER_LENGTH = 4_000;

/**
 * The schema of a parameter whose length is limited only by the maximum length of a URL. The value must be
 * text that PostgreSQL can store.
 */
export const urlText = z
  .string({ error: ({ input }) => (Array.isArray(input) ? 'is given more than once' : 'is required') })
  .refine((text) => text.isWellFormed() && !text.includes('\0'), {
    error: 'must not contain NUL or an unpaired surrogate; the record contains them escaped, as \\u0000',
    abort: true,
  });

/** The schema of a parameter of at most {@link MAX_PARAMETER_LENGTH} characters. */
export const limitedText = urlText.max(MAX_PARAMETER_LENGTH, {
  error: `must have at most ${MAX_PARAMETER_LENGTH} characters`,
  abort: true,
});

const matching = (pattern: RegExp, expected: string, example: string) =>
  limitedText
    .refine((text) => pattern.test(text), { error: `must be ${expected}`, abort: true })
    .meta({ description: `${expected[0]?.toUpperCase()}${expected.slice(1)}.`, examples: [example] });

const whole = (bits: number) =>
  matching(/^-?\d{1,20}$/, 'a whole number', '42').refine(
    (text) => BigInt.asIntN(bits, BigInt(text)) === BigInt(text),
    { error: `must be a whole number of ${bits} bits` },
  );

/** The schema of a time. The output is the time in the format of PostgreSQL, with microseconds and zone. */
export const instantParam = limitedText
  .transform((text, context) => {
    const exact = text.length <= 64 ? parseExactInstant(text) : null;
    if (exact !== null) return exact;
    context.addIssue({ code: 'custom', message: `must be a time such as ${INSTANT_EXAMPLE}` });
    return z.NEVER;
  })
  .meta({
    description: `A time such as ${INSTANT_EXAMPLE}; without a zone it is UTC.`,
    examples: ['2026-03-20T12:00Z'],
  });

const date = matching(/^\d{4}-\d{2}-\d{2}$/, 'a date such as 2026-12-01', '2026-12-01').refine(
  (text) => parseInstant(text) !== null,
  { error: 'must be a day of the calendar, such as 2026-12-01' },
);

const numeric = matching(/^-?\d{1,500}(\.\d{1,500})?$/, 'a number', '12.5');
const double = matching(/^-?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,2})?$/, 'a number', '12.5');

/** The schemas of parameter values, by PostgreSQL type. The output is the text for PostgreSQL. */
const VALUES: Readonly<Record<string, z.ZodType<string, string>>> = {
  text: limitedText.meta({ description: 'A text, as recorded.' }),
  numeric,
  'double precision': double,
  bigint: whole(64),
  integer: whole(32),
  boolean: matching(/^(true|false)$/, 'true or false', 'true'),
  timestamptz: instantParam,
  date,
  // Accepts PostgreSQL's output format as well: each part can be negative.
  interval: matching(
    /^P(?!$)(-?\d{1,6}Y)?(-?\d{1,6}M)?(-?\d{1,6}D)?(T(?!$)(-?\d{1,6}H)?(-?\d{1,6}M)?(-?\d{1,6}(\.\d{1,6})?S)?)?$/,
    'a duration such as PT15M or P1DT2H',
    'PT15M',
  ),
  uuid: matching(
    /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/,
    'a UUID',
    '0e4c4a30-6f2e-4a57-9d0c-3f1b7a9d2c11',
  ),
  'text[]': limitedText.meta({ description: 'Texts, separated by commas.' }),
};

/** Returns the schema of a parameter value. @throws Error if no parameter can have the type */
export function getValueSchema(type: string): z.ZodType<string, string> {
  const values = VALUES[type];
  if (!values) throw new Error(`the type ${type} is not supported for parameters`);
  return values;
}

const COMPARED = ['eq', 'gte', 'gt', 'lte', 'lt'] as const;
const BY_TYPE: Readonly<Record<string, readonly Operator[]>> = {
  text: [...COMPARED, 'prefix', 'contains'],
  boolean: ['eq'],
  'text[]': ['contains'],
  jsonb: [],
  bytea: [],
  uuid: ['eq'],
};

/** Returns the operators by which a column can be filtered. */
export const operatorsOf = ({ type, notNull }: DeclaredColumn): readonly Operator[] => [
  ...(BY_TYPE[type] ?? COMPARED),
  ...(notNull ? [] : (['null'] as const)),
];

/** The description of each operator, for people. */
export const OPERATOR_DESCRIPTIONS: Readonly<Record<Operator, string>> = {
  eq: 'is',
  gte: 'is at least',
  gt: 'is more than',
  lte: 'is at most',
  lt: 'is less than',
  null: 'is null (true) or not null (false)',
  prefix: 'starts with',
  contains: 'contains',
};

const COMPARISONS = { eq: '=', gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

/** Returns SQL of a filter on the rows of a FROM item. */
export function filterSql(
  { column, type, operator, value }: Filter,
  into: StatementBuilder,
  rows: 'r' | 'w' = 'r',
): string {
  const name = `${rows}."${column}"`;
  switch (operator) {
    case 'null':
      return `${name} is ${value === 'true' ? '' : 'not '}null`;
    case 'prefix':
      return `starts_with(${name}, ${into.value(value, 'text')})`;
    case 'contains':
      return type === 'text[]'
        ? `${into.value(value, 'text')} = any(${name})`
        : `strpos(${name}, ${into.value(value, 'text')}) > 0`;
    default:
      return `${name} ${COMPARISONS[operator]} ${into.value(value, type)}`;
  }
}
