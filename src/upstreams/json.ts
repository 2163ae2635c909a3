import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * Anything in a JSON text that `JSON.parse` could round: a number of 16 characters and more, or with an exponent.
 * It must stand where a value may: hashes are full of digits beside an `e`, and the exact parser costs four times more.
 */
const MAY_ROUND = /(?:^|[:[,])\s*-?(?:[\d.]{16}|[\d.]+[eE])/;

/** Whether a parsed value is a number that a double cannot hold, with its source text in `value`. */
export const isExactNumber = isLosslessNumber;

/**
 * Parses JSON without rounding a number: those that a double holds exactly come as `number`, all others as
 * `LosslessNumber`.
 * @throws SyntaxError (or RangeError for absurd nesting) when the text is not JSON
 */
export function parseJson(text: string): unknown {
  return MAY_ROUND.test(text) ? parse(text, undefined, exactNumber) : JSON.parse(text);
}

/** The JSON text of a parsed value, exact numbers as they came. */
export function jsonText(value: unknown): string {
  return (holdsExactNumber(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** So short that no digit is lost: what `JSON.parse` reads as well. */
const SHORT = /^-?[\d.]{1,15}$/;

function exactNumber(text: string): number | LosslessNumber {
  const number = Number(text);
  return SHORT.test(text) || String(number) === text ? number : new LosslessNumber(text);
}

function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isLosslessNumber(value)) return true;
  for (const part of Array.isArray(value) ? value : Object.values(value))
    if (holdsExactNumber(part)) return true;
  return false;
}
