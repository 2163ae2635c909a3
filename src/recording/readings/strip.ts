import type { ValueKind } from './value-encoding.ts';

/**
 * Format of a strip, which holds the values of one column as integers, each at its ordinal. The value at an
 * ordinal is
 *
 *     base + floor(slope * ordinal / 4096) + offset
 *
 * The offsets are concatenated in a bit string with equal widths, so that each can be read without the
 * others. A column that changes linearly has small offsets; a constant one has none.
 *
 * `mode` holds the width of an offset in bits, the number of decimals in the integers, a flag for removing
 * trailing zeros, and a flag that an offset of only ones means null.
 */
export const MODE = { width: 63, scaleAt: 6, scale: 31, trimmed: 2048, nullable: 4096 } as const;

/** Number of bits by which slopes are shifted. A stored slope of 4096 is one unit per ordinal. */
export const SLOPE_SHIFT = 12;

/** Maximum number of decimals of packed values. */
export const MAX_SCALE = 18;

/**
 * Exclusive limit of packed numbers, in units of their last decimal, so that no sum in the formula above
 * overflows.
 */
export const VALUE_LIMIT = 2n ** 60n;

/** SQL: array of powers of ten. Element 1 is 10^0. */
export const POWERS = `(array[${Array.from({ length: MAX_SCALE + 1 }, (_, at) => `1${'0'.repeat(at)}`).join(', ')}]::numeric[])`;
const FRACTIONS = `(array[1, ${Array.from({ length: MAX_SCALE }, (_, at) => `0.${'0'.repeat(at)}1`).join(', ')}]::numeric[])`;

/** SQL expressions of the parts of a strip. */
export interface Strip {
  readonly base: string;
  /** SQL of the slope in the formula of {@link MODE}. Null if no strip of this table has a slope. */
  readonly slope: string | null;
  readonly mode: string;
  /** Offset of the strip's first bit, zero-based. */
  readonly start: string;
  readonly bits: string;
  readonly ordinal: string;
}

/** SQL: the value of one unit of the integers of a strip. */
export const unitSql = (mode: string): string =>
  `${FRACTIONS}[((${mode} >> ${MODE.scaleAt}) & ${MODE.scale}) + 1]`;

/**
 * SQL: the value of a strip at an ordinal, in the type of its column.
 * @param nullable whether the column may be null
 * @param observedAt instant of the observation, for columns of instants
 */
export function valueAtSql(strip: Strip, kind: ValueKind, nullable: boolean, observedAt: string): string {
  const { mode } = strip;
  const scale = `((${mode} >> ${MODE.scaleAt}) & ${MODE.scale})`;
  const whole = nullable ? nullableValueSql(strip) : nonNullValueSql(strip);
  switch (kind) {
    case 'whole':
      return whole;
    case 'flag':
      return `(${whole} = 1)`;
    case 'number': {
      const value = `${whole} * ${unitSql(mode)}`;
      const trimmed = `case when ${mode} & ${MODE.trimmed} = 0 then ${value} else trim_scale(${value}) end`;
      // Most strips have neither flag, so that one test covers both.
      return nullable
        ? `case when ${mode} & ${MODE.trimmed | MODE.nullable} = 0 then ${nonNullValueSql(strip)} * ${unitSql(mode)} else ${trimmed} end`
        : trimmed;
    }
    case 'instant': {
      // An instant is stored as its distance before the observation, in seconds or microseconds.
      const power = `${POWERS}[${scale} + 1]`;
      const microseconds = `(floor(extract(epoch from ${observedAt}) * ${power}) - ${whole}) * (1000000 / ${power})`;
      return `timestamptz 'epoch' + (${microseconds})::double precision * interval '1 microsecond'`;
    }
  }
}

const widthOf = ({ mode }: Strip) => `(${mode} & ${MODE.width})`;

function offsetOf(strip: Strip): string {
  const { start, bits, ordinal } = strip;
  const width = widthOf(strip);
  return `case ${width} when 0 then 0 else substring(${bits} from ${start} + ${ordinal} * ${width} + 1 for ${width})::bigint end`;
}

/** SQL: the value of a strip at an ordinal, without its offset. */
const slopeValueSql = ({ base, slope, ordinal }: Strip) =>
  slope === null ? base : `${base} + coalesce((${slope}::bigint * ${ordinal}) >> ${SLOPE_SHIFT}, 0)`;

/** SQL: the value of a strip at an ordinal, if it is not null. */
const nonNullValueSql = (strip: Strip) => `(${slopeValueSql(strip)} + ${offsetOf(strip)})`;

/**
 * SQL: the value or null of a strip at an ordinal. Most strips have neither nulls nor offsets, so that one
 * test covers both.
 */
const nullableValueSql = (strip: Strip) =>
  `case when ${strip.mode} & ${MODE.nullable | MODE.width} = 0 then ${slopeValueSql(strip)}
    when ${strip.mode} & ${MODE.nullable} <> 0 and ${offsetOf(strip)} = (1::bigint << ${widthOf(strip)}) - 1 then null else ${nonNullValueSql(strip)} end`;
