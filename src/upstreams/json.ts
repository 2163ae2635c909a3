import { randomUUID } from 'node:crypto';
import { isLosslessNumber, LosslessNumber, stringify } from 'lossless-json';

/**
 * Anything in a JSON text that `JSON.parse` could round: a number of 16 characters and more, or with an exponent. Only
 * places of values match: hashes contain digits beside an `e`. Texts in the JSON may match too. (The first digit stands
 * alone, and the number that is a text by itself has its own pattern: so nearly all places are passed at their first
 * characters, in three fifths of the time.)
 */
const MAY_ROUND = /[:[,]\s*-?[\d.](?:[\d.]{15}|[\d.]*[eE])/g;
const ALONE = /^\s*-?[\d.]/;

/** A JSON number. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** What a number is written behind, in a string, while `JSON.parse` reads a text. Nobody else knows it. */
const MARK = `${randomUUID()} `;

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
  const marked = withMarks(text);
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

/** The text with a marked string in place of each number that a double may not hold. */
function withMarks(text: string): string {
  let marked = '';
  /** Up to where the text is in `marked`. */
  let kept = 0;
  /** Where the next string begins; -1: there is none. */
  let string = text.indexOf('"');
  MAY_ROUND.lastIndex = 0;
  for (let found = ALONE.exec(text) ?? MAY_ROUND.exec(text); found; found = MAY_ROUND.exec(text)) {
    let end = 0;
    while (string >= 0 && string < found.index) {
      end = endOfString(text, string);
      string = text.indexOf('"', end + 1);
    }
    if (end > found.index) {
      MAY_ROUND.lastIndex = end; // what was found is in a string
      continue;
    }
    const begin = found.index + found[0].search(/[-\d.]/);
    NUMBER.lastIndex = begin;
    const number = NUMBER.exec(text)?.[0];
    if (number === undefined || isHeldByDouble(number)) continue;
    marked += `${text.slice(kept, begin)}"${MARK}${number}"`;
    kept = begin + number.length;
  }
  return kept === 0 ? text : marked + text.slice(kept);
}

/** A parsed value with numbers in place of the marked strings. */
function withoutMarks(value: unknown): unknown {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? exactNumber(value.slice(MARK.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    value.forEach((member: unknown, at) => {
      const unmarked = withoutMarks(member);
      if (unmarked !== member) value[at] = unmarked;
    });
    return value;
  }
  for (const name of Object.keys(value)) {
    const member: unknown = Reflect.get(value, name);
    const unmarked = withoutMarks(member);
    // The member is the object's own, also where it is called `__proto__`.
    if (unmarked !== member) Reflect.set(value, name, unmarked);
  }
  return value;
}

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

/** Where the string that begins at a quote ends; the end of the text where it does not. */
function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * The JSON text of a parsed value, exact numbers as they came.
 * @throws RangeError when the value nests deeper than can be written
 */
export function jsonText(value: unknown): string {
  return (holdsExactNumber(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** Numbers so short that `JSON.parse` loses no digit. */
const SHORT = /^-?[\d.]{1,15}$/;

function isHeldByDouble(text: string): boolean {
  return SHORT.test(text) || String(Number(text)) === text;
}

/** A number that a double does not hold. */
const exactNumber = (text: string) => (text === TOO_DEEP ? new TooDeep() : new LosslessNumber(text));

function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isLosslessNumber(value)) return true;
  for (const part of Array.isArray(value) ? value : Object.values(value))
    if (holdsExactNumber(part)) return true;
  return false;
}
