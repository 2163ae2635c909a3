import { randomBytes } from 'node:crypto';
import { isLosslessNumber, LosslessNumber, stringify } from 'lossless-json';
import { endOfString, Strings } from './json-strings.ts';

/**
 * Anything in a JSON text that `JSON.parse` could round: a number of 16 characters and more, or with an exponent. Only
 * places of values match: hashes contain digits beside an `e`, and addresses colons. Texts in the JSON may match too.
 * (Short whole numbers are passed where they end: so a page of points takes three fifths of the time.)
 */
const MAY_ROUND =
  /[:[,]\s*(-?\d(?!\d{0,9}[,}\]])(?<![^"\s]:\s*-?\d)(?:[\d.]{15}|[\d.]*[eE])[\d.eE+-]*)(?=\s*[,}\]])/g;
/** A text that is a number by itself. */
const ALONE = /^\s*-?\d/;

/** What a number is written behind, in a string, while `JSON.parse` reads a text. Nobody else knows it. */
const MARK = randomBytes(9).toString('base64url');

/** Whether a parsed value is a number that a double cannot hold, with its source text in `value`. */
export const isExactNumber = isLosslessNumber;

/** The deepest nesting that is read. Real answers have about ten levels; two million levels would take a gigabyte. */
const DEEPEST = 500;
/**
 * A text nests no deeper than it has opening brackets, and so many levels need little memory. Nearly all answers have fewer, so
 * their depth is not checked: to count brackets takes a fifth of the time or less.
 */
const MAY_BE_DEEP = 100_000;

/** Replaces what nests deeper than {@link DEEPEST}: the rest of the answer can be read, this cannot be written. */
class TooDeep {
  toJSON(): never {
    throw new RangeError(`more than ${DEEPEST} levels deep`);
  }
}
/** Its placeholder in the text before parsing: a number that nobody writes like this. */
const TOO_DEEP = '-0.00e-00500';

/**
 * Parses JSON without rounding a number: those that a double holds exactly come as `number`, all others as
 * `LosslessNumber`. Of a key that comes twice the last value counts. What nests too deep is left out, and
 * {@link jsonText} of a value that contains it throws.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJson(text: string): unknown {
  const shallow = mayBeDeep(text) ? withoutDepths(text) : text;
  try {
    return parseShallow(shallow);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return parseShallow(withoutDepths(shallow)); // fewer brackets, and yet deeper than the stack allows
  }
}

function parseShallow(text: string): unknown {
  const marked = ALONE.test(text) ? withMarks(`[${text}]`).slice(1, -1) : withMarks(text);
  if (marked === text) return JSON.parse(text);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch (error) {
    JSON.parse(text); // throws, in words without marks
    throw error;
  }
  return withoutMarks(value);
}

/**
 * Returns a JSON text in which each number that a double cannot hold is a string with its digits: the rule of every JSON that the
 * recorder writes, because `JSON.parse` would round it.
 */
export function quoteInexactNumbers(text: string): string {
  return ALONE.test(text) ? withMarks(`[${text}]`, '').slice(1, -1) : withMarks(text, '');
}

/** The text with a string, the mark in front, in place of each number that a double does not hold. */
function withMarks(text: string, mark = MARK): string {
  let marked = '';
  /** Up to where the text is in `marked`. */
  let kept = 0;
  const strings = new Strings(text);
  MAY_ROUND.lastIndex = 0;
  for (let found = MAY_ROUND.exec(text); found; found = MAY_ROUND.exec(text)) {
    const outside = strings.outsideFrom(found.index);
    if (outside > found.index) {
      MAY_ROUND.lastIndex = outside; // what was found is in a string
      continue;
    }
    const number = found[1] ?? '';
    if (!isLost(number)) continue;
    const end = MAY_ROUND.lastIndex;
    marked += `${text.slice(kept, end - number.length)}"${mark}${number}"`;
    kept = end;
  }
  return kept === 0 ? text : marked + text.slice(kept);
}

/** A parsed value with numbers in place of the marked strings. */
function withoutMarks(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? exactNumber(value.slice(MARK.length)) : value;
  if (!isObject(value)) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const member: unknown = value[at];
      const unmarked = withoutMarks(member);
      if (unmarked !== member) value[at] = unmarked;
    }
    return value;
  }
  for (const name in value) {
    const member = value[name];
    const unmarked = withoutMarks(member);
    // The member is the object's own, also where it is called `__proto__`.
    if (unmarked !== member) value[name] = unmarked;
  }
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Whether a text has more opening brackets than {@link MAY_BE_DEEP}, those in its strings included. */
function mayBeDeep(text: string): boolean {
  if (text.length <= MAY_BE_DEEP) return false;
  let found = 0;
  for (const bracket of '[{')
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      found += 1;
      if (found > MAY_BE_DEEP) return true;
    }
  return false;
}

/** The text with everything that nests deeper than {@link DEEPEST} taken out. */
function withoutDepths(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth === DEEPEST + 1) parts.push(text.slice(kept, at), TOO_DEEP);
    } else if (code === 0x5d || code === 0x7d) {
      if (depth === DEEPEST + 1) kept = at + 1;
      depth -= 1;
    }
  }
  if (depth > DEEPEST) throw new SyntaxError('the text ends within its brackets');
  parts.push(text.slice(kept));
  return parts.join('');
}

/**
 * The JSON text of a parsed value, exact numbers as they came.
 * @throws RangeError when the value nests deeper than can be written
 */
export function jsonText(value: unknown): string {
  return (holdsExactNumber(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** A JSON number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** One with 18 digits or more that count: no double is written with more than 17 of them. */
const LONG = /^-?(?=\d{18}|[\d.]{19})[1-9]\d*(?:\.\d+)?(?<=[1-9])$/;

/** Whether a text is a JSON number that a double does not hold. */
const isLost = (text: string) => LONG.test(text) || (String(Number(text)) !== text && NUMBER.test(text));

/** A number that a double does not hold. */
const exactNumber = (text: string) => (text === TOO_DEEP ? new TooDeep() : new LosslessNumber(text));

function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isLosslessNumber(value)) return true;
  for (const part of Array.isArray(value) ? value : Object.values(value))
    if (holdsExactNumber(part)) return true;
  return false;
}
