import type { DeclaredColumn } from '../../db/declared.ts';
import type { OrderColumn } from '../relations/relation.ts';

/** Role of a column in the analysis of rows. */
export type ColumnRole = 'key' | 'surrogate' | 'time' | 'measure' | 'attribute';

/** Description of a column for tools. */
export interface ColumnMetadata {
  readonly column_name: string;
  readonly type: string;
  /** Position in the key of a row, from 1; null outside the key. */
  readonly key_position: number | null;
  readonly role: ColumnRole;
  readonly unit: string | null;
  /** True if the sum over rows of the same moment is meaningful; null for columns that are no measures. */
  readonly additive: boolean | null;
  readonly nullable: boolean;
  readonly null_means: string | null;
  /**
   * Column that this column refers to, as `RELATION.COLUMN`. The values of the referenced column are unique.
   */
  readonly refers_to: string | null;
  readonly description: string;
}

const NUMBERS: ReadonlySet<string> = new Set(['numeric', 'bigint', 'integer', 'double precision']);
const TIMES: ReadonlySet<string> = new Set(['timestamptz', 'date']);

/** Columns whose values the recorder assigns to identify rows. */
const SURROGATES: ReadonlySet<string> = new Set([
  'version_id',
  'series_id',
  'run_id',
  'commit_number',
  'cursor',
  'id',
]);

/** Pattern of the names of numeric columns that are no measures, because they identify or order rows. */
const NO_MEASURE =
  /(^|_)(id|number|decimals|denomination|position|rank|height|index|threshold|nonce|version|raw|type|revision|proposal)$/;

/** Pattern of the names of measures whose sum has no meaning. */
const NOT_ADDITIVE =
  /average|avg|median|lowest|highest|(^|_)(max|min|price|share|percent|percentage|ratio|coverage|uptime|progress|level|fee|limit|p50|p95|p99)(_|$)|_per_|supply|_left$|relative|strength|interval/;

/** Units by the pattern of a column name. */
const UNITS_BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/_navax$/, 'nAVAX'],
  [/_avax$/, 'AVAX'],
  [/(^|_)seconds$/, 's'],
  [/_minutes$/, 'min'],
  [/(^|_)days_left$/, 'd'],
  [/_ms$|^p(50|95|99)$/, 'ms'],
  [/_bytes$/, 'B'],
  [/(^|_)(percent|percentage)$/, '%'],
  [/(^|_)(share|coverage)(_|$)/, 'share of 1'],
  [/^gas_(used|limit)$/, 'gas'],
  [/(^|_)tokens$/, 'tokens'],
];

/** Units by the pattern of a column comment. */
const UNITS_BY_COMMENT: readonly (readonly [RegExp, string])[] = [
  [/\bin nAVAX per day\b/i, 'nAVAX per day'],
  [/\bin nAVAX\b/i, 'nAVAX'],
  [/\bin AVAX\b/, 'AVAX'],
  [/\bin percent\b/i, '%'],
  [/\bin nano-tokens\b/i, 'nano-tokens'],
  [/\bin nanoseconds\b/i, 'ns'],
  [/\bin tokens\b/i, 'tokens'],
  [/\bin the unit of the (subnet|L1)\b/i, 'unit of the subnet'],
  [/\bin the (asset's )?smallest unit\b/i, 'smallest unit'],
  [/^(Total )?[Nn]umber of /, 'count'],
];

const unitOf = ({ name, comment }: DeclaredColumn): string | null =>
  [
    ...UNITS_BY_NAME.map(([pattern, unit]) => (pattern.test(name) ? unit : null)),
    ...UNITS_BY_COMMENT.map(([pattern, unit]) => (pattern.test(comment) ? unit : null)),
  ].find((unit) => unit !== null) ?? null;

/** Returns the role of a column that is not part of the key. */
export function roleBesideKey({ name, type }: Pick<DeclaredColumn, 'name' | 'type'>): ColumnRole {
  if (SURROGATES.has(name)) return 'surrogate';
  if (TIMES.has(type)) return 'time';
  return NUMBERS.has(type) && !NO_MEASURE.test(name) ? 'measure' : 'attribute';
}

/** Returns the meaning of null in a column, from its comment. */
function nullMeaning({ comment }: DeclaredColumn): string | null {
  const [, stated] = /\bnull(?:[^:.;]*): (.+?)\.(?:\s|$)/i.exec(comment) ?? [];
  if (stated !== undefined) return `${stated.charAt(0).toUpperCase()}${stated.slice(1)}.`;
  return comment.includes('Upstream field ') ? 'The response does not have the field.' : null;
}

/**
 * Returns the description of a column of a relation.
 * @param key the columns of the key, in order
 * @param refersTo the column that this column refers to, as `RELATION.COLUMN`; null if there is none
 */
export function columnMetadata(
  column: DeclaredColumn,
  key: readonly OrderColumn[],
  refersTo: string | null,
): ColumnMetadata {
  const { name, type, comment, notNull } = column;
  const at = key.findIndex((one) => one.name === name);
  const inKey = key[at];
  const nullable = inKey ? inKey.nullable || inKey.emptyForNull === true : !notNull;
  const role = at < 0 ? roleBesideKey(column) : 'key';
  const unit = NUMBERS.has(type) ? unitOf(column) : null;
  return {
    column_name: name,
    type,
    key_position: at < 0 ? null : at + 1,
    role,
    unit,
    additive: role === 'measure' ? unit !== null && unit !== '%' && !NOT_ADDITIVE.test(name) : null,
    nullable,
    null_means: nullable ? nullMeaning(column) : null,
    refers_to: refersTo,
    description: comment,
  };
}
