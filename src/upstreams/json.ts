import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * Anything in a JSON text that `JSON.parse` could round: a number of 16 characters and more, or with an exponent.
 * It must stand where a value may: hashes are full of digits beside an `e`, and the exact parser costs four times more.
 */
const MAY_ROUND = /(?:^|[:[,])\s*-?(?:[\d.]{16}|[\d.]+[eE])/;

/** Whether a parsed value is a number that a double cannot hold, with its source text in `value`. */
export const isExactNumber = isLosslessNumber;

/** No answer of any service nests deeper than ten or so; two million levels would take a gigabyte. */
const DEEPEST = 500;
/** Shorter texts, as nearly all pages are, take little however deep they nest: they need no look at their depth. */
const MAY_BE_DEEP = 100_000;

/**
 * Parses JSON without rounding a number: those that a double holds exactly come as `number`, all others as
 * `LosslessNumber`.
 * @throws SyntaxError when the text is not JSON, RangeError when it nests absurdly deep
 */
export function parseJson(text: string): unknown {
  if (text.length > MAY_BE_DEEP) refuseDepth(text);
  return MAY_ROUND.test(text) ? parse(text, undefined, exactNumber) : JSON.parse(text);
}

/** @throws RangeError when brackets nest deeper than {@link DEEPEST}; of what is no JSON only that much is certain */
function refuseDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > DEEPEST) throw new RangeError(`more than ${DEEPEST} levels deep`);
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
}

/** Where the string that begins at a quote ends; the end of the text where it does not. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
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
