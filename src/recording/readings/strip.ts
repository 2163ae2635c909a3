import type { Kind } from './value-encoding.ts';

/**
 * A strip holds the values of one column as whole numbers, each at its place. The value at a place is
 *
 *     base + floor(slope * place / 4096) + offset
 *
 * where the offsets stand side by side in a string of bits, all equally wide, so that each is found without reading the
 * others. A column that moves steadily has small offsets, one that does not move has none.
 *
 * `mode` says the rest: the width of an offset in bits, how many decimals were taken as whole numbers, whether trailing zeros
 * are to be removed again, and whether an offset of ones only stands for null.
 */
export const MODE = { width: 63, scaleAt: 6, scale: 31, trimmed: 2048, nullable: 4096 } as const;

/** A slope counts in this fraction of a unit a place, as a shift of bits. */
export const SLOPE_SHIFT = 12;

/** The most decimals that are packed. */
export const MOST_SCALE = 18;

/** Numbers are packed below this, in units of their last decimal, so that no sum of the above overflows. */
export const LIMIT = 2n ** 60n;

/** SQL: powers of ten from 0 on, by index from 1. */
export const POWERS = `(array[${Array.from({ length: MOST_SCALE + 1 }, (_, at) => `1${'0'.repeat(at)}`).join(', ')}]::numeric[])`;
const FRACTIONS = `(array[1, ${Array.from({ length: MOST_SCALE }, (_, at) => `0.${'0'.repeat(at)}1`).join(', ')}]::numeric[])`;

/** Where a strip stands: SQL expressions. */
export interface Strip {
  readonly base: string;
  /** Null: strips of this table have none. */
  readonly slope: string | null;
  readonly mode: string;
  /** Before its first bit, from 0. */
  readonly start: string;
  readonly bits: string;
  readonly place: string;
}

/** SQL: what one of the whole numbers of a strip counts. */
export const unitOf = (mode: string): string =>
  `${FRACTIONS}[((${mode} >> ${MODE.scaleAt}) & ${MODE.scale}) + 1]`;

/**
 * SQL: the value of a strip at a place, in the type of its column.
 * @param nullable whether the column may be null
 * @param observedAt the instant of the look, for columns of instants
 */
export function readAt(strip: Strip, kind: Kind, nullable: boolean, observedAt: string): string {
  const { mode } = strip;
  const scale = `((${mode} >> ${MODE.scaleAt}) & ${MODE.scale})`;
  const whole = nullable ? orNull(strip) : toldBy(strip);
  switch (kind) {
    case 'whole':
      return whole;
    case 'flag':
      return `(${whole} = 1)`;
    case 'number': {
      const value = `${whole} * ${unitOf(mode)}`;
      const trimmed = `case when ${mode} & ${MODE.trimmed} = 0 then ${value} else trim_scale(${value}) end`;
      // Most strips are neither: that is asked once.
      return nullable
        ? `case when ${mode} & ${MODE.trimmed | MODE.nullable} = 0 then ${toldBy(strip)} * ${unitOf(mode)} else ${trimmed} end`
        : trimmed;
    }
    case 'instant': {
      // An instant is told by how long before the look it was, in seconds or microseconds.
      const power = `${POWERS}[${scale} + 1]`;
      const microseconds = `(floor(extract(epoch from ${observedAt}) * ${power}) - ${whole}) * (1000000 / ${power})`;
      return `timestamptz 'epoch' + (${microseconds})::double precision * interval '1 microsecond'`;
    }
  }
}

const widthOf = ({ mode }: Strip) => `(${mode} & ${MODE.width})`;

function offsetOf(strip: Strip): string {
  const { start, bits, place } = strip;
  const width = widthOf(strip);
  return `case ${width} when 0 then 0 else substring(${bits} from ${start} + ${place} * ${width} + 1 for ${width})::bigint end`;
}

/** SQL: what a strip has at a place where its offset is nothing. */
const bentOf = ({ base, slope, place }: Strip) =>
  slope === null ? base : `${base} + coalesce((${slope}::bigint * ${place}) >> ${SLOPE_SHIFT}, 0)`;

/** SQL: what a strip has at a place where it is not null. */
const toldBy = (strip: Strip) => `(${bentOf(strip)} + ${offsetOf(strip)})`;

/** SQL: what a strip has at a place. Most have neither nulls nor offsets: that is asked once. */
const orNull = (strip: Strip) =>
  `case when ${strip.mode} & ${MODE.nullable | MODE.width} = 0 then ${bentOf(strip)}
    when ${strip.mode} & ${MODE.nullable} <> 0 and ${offsetOf(strip)} = (1::bigint << ${widthOf(strip)}) - 1 then null else ${toldBy(strip)} end`;
