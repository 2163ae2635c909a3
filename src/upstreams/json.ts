import { randomBytes } from 'node:crypto';
import { isLosslessNumber, LosslessNumber, stringify } from 'lossless-json';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Characters that may follow a string in JSON. */
const AFTER_STRING = /[:,\]}\s]/;

/** Positions of strings in a JSON text, for queries in ascending order. */
class JsonStrings {
  readonly #text: string;
  /** A position outside of strings. */
  #outside = 0;
  /** Position of the first quote from `#outside` on. A position before `#outside` is outdated. */
  #quote: number;

  constructor(text: string) {
    this.#text = text;
    this.#quote = findQuote(text, 0);
  }

  /** Returns the first position from `at` on that is outside of strings and does not start one. */
  outsideFrom(at: number): number {
    if (isAfterString(this.#text, at)) this.#outside = at;
    else {
      if (this.#quote < this.#outside) this.#quote = findQuote(this.#text, this.#outside);
      while (this.#quote < at) {
        this.#outside = findStringEnd(this.#text, this.#quote) + 1;
        this.#quote = findQuote(this.#text, this.#outside);
      }
    }
    return Math.max(this.#outside, at);
  }
}

/**
 * Returns whether a position certainly follows a string, without a scan from the start. The text between two
 * quotes is either the content of a string or the text after a string. If its first character cannot follow a
 * string, the text is content. (After an escaped quote, the string continues.)
 */
function isAfterString(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) !== QUOTE) return false;
  let begin = at - 2;
  while (begin >= 0 && text.charCodeAt(begin) !== QUOTE && text.charCodeAt(begin) !== BACKSLASH) begin -= 1;
  return begin < at - 2 && text.charCodeAt(begin) === QUOTE && !AFTER_STRING.test(text.charAt(begin + 1));
}

/** Returns the position of the next quote. Returns the length of the text if there is none. */
function findQuote(text: string, begin: number): number {
  const at = text.indexOf('"', begin);
  return at < 0 ? text.length : at;
}

/** Returns the position of the closing quote of a string. Returns the length of the text if there is none. */
function findStringEnd(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Matches numbers that `JSON.parse` could round: 16 or more characters, or an exponent. Only positions of
 * values match, because hashes contain digits next to an `e`, and addresses contain colons. Texts inside of
 * strings may match, too. (Short integers are skipped at their end, which reduces the time for a page of
 * points to three fifths.)
 */
const MAY_ROUND =
  /[:[,]\s*(-?\d(?!\d{0,9}[,}\]])(?<![^"\s]:\s*-?\d)(?:[\d.]{15}|[\d.]*[eE])[\d.eE+-]*)(?=\s*[,}\]])/g;
/** Matches a text that is only a number. */
const BARE_NUMBER = /^\s*-?\d/;

/**
 * Random prefix of the strings that replace numbers while `JSON.parse` reads a text. Upstreams cannot guess
 * the prefix.
 */
const MARK = randomBytes(9).toString('base64url');

/**
 * Returns whether a parsed value is a number that a double cannot represent exactly. The field `value` of the
 * number contains the source text.
 */
export const isExactNumber = isLosslessNumber;

/**
 * Maximum nesting depth that is parsed. Real responses have about ten levels. Two million levels would need a
 * gigabyte of memory.
 */
const MAX_DEPTH = 500;
/**
 * Number of opening brackets above which the depth is checked. The depth cannot exceed the number of
 * brackets, and this many levels need little memory. Nearly all responses have fewer. Counting takes at most
 * a fifth of the time of a parse.
 */
const DEPTH_CHECK_BRACKETS = 100_000;

/**
 * Replacement for a value that is nested deeper than {@link MAX_DEPTH}. The rest of the response can be read,
 * but this value cannot be serialised.
 */
class TooDeep {
  toJSON(): never {
    throw new RangeError(`the value is nested more than ${MAX_DEPTH} levels deep`);
  }
}
/** Placeholder for a too deeply nested value in a text, a number in a form that no serialiser writes. */
const TOO_DEEP = '-0.00e-00500';

/**
 * Parses JSON without rounding of numbers. Numbers that a double represents exactly become `number`, all
 * others `LosslessNumber`. If a key is repeated, the last value counts. Values that are nested too deeply are
 * replaced, and {@link jsonText} throws for a value that contains one.
 * @throws SyntaxError if the text is not JSON
 */
export function parseJson(text: string): unknown {
  const shallow = mayBeDeep(text) ? withoutDepths(text) : text;
  try {
    return parseShallow(shallow);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // fewer brackets than the limit, but deeper than the stack allows
    return parseShallow(withoutDepths(shallow));
  }
}

function parseShallow(text: string): unknown {
  const marked = BARE_NUMBER.test(text) ? withMarks(`[${text}]`).slice(1, -1) : withMarks(text);
  if (marked === text) return JSON.parse(text);
  let value: unknown;
  try {
    value = JSON.parse(marked);
  } catch (error) {
    JSON.parse(text); // throws a message without marks
    throw error;
  }
  return withoutMarks(value);
}

/**
 * Returns a JSON text in which each number that a double cannot represent exactly is a string with its
 * digits. Every JSON output of the recorder uses this, because `JSON.parse` would round the number.
 */
export function quoteInexactNumbers(text: string): string {
  return BARE_NUMBER.test(text) ? withMarks(`[${text}]`, '').slice(1, -1) : withMarks(text, '');
}

/**
 * Returns the text with each number that a double cannot represent exactly replaced by a string of the mark
 * and the number.
 */
function withMarks(text: string, mark = MARK): string {
  let marked = '';
  /** End of the part of the text that is already in `marked`. */
  let kept = 0;
  const strings = new JsonStrings(text);
  MAY_ROUND.lastIndex = 0;
  for (let found = MAY_ROUND.exec(text); found; found = MAY_ROUND.exec(text)) {
    const outside = strings.outsideFrom(found.index);
    if (outside > found.index) {
      MAY_ROUND.lastIndex = outside; // the match is inside a string
      continue;
    }
    const number = found[1] ?? '';
    if (!isInexact(number)) continue;
    const end = MAY_ROUND.lastIndex;
    marked += `${text.slice(kept, end - number.length)}"${mark}${number}"`;
    kept = end;
  }
  return kept === 0 ? text : marked + text.slice(kept);
}

/** Replaces marked strings in a parsed value by numbers. */
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
    // The member is an own property, even if it is called `__proto__`.
    if (unmarked !== member) value[name] = unmarked;
  }
  return value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/**
 * Returns whether a text has more opening brackets than {@link DEPTH_CHECK_BRACKETS}, including those in
 * strings.
 */
function mayBeDeep(text: string): boolean {
  if (text.length <= DEPTH_CHECK_BRACKETS) return false;
  let found = 0;
  for (const bracket of '[{')
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      found += 1;
      if (found > DEPTH_CHECK_BRACKETS) return true;
    }
  return false;
}

/** Replaces all values that are nested deeper than {@link MAX_DEPTH}. */
function withoutDepths(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = findStringEnd(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth === MAX_DEPTH + 1) parts.push(text.slice(kept, at), TOO_DEEP);
    } else if (code === 0x5d || code === 0x7d) {
      if (depth === MAX_DEPTH + 1) kept = at + 1;
      depth -= 1;
    }
  }
  if (depth > MAX_DEPTH) throw new SyntaxError('the text ends before a closing bracket');
  parts.push(text.slice(kept));
  return parts.join('');
}

/**
 * Returns the JSON text of a parsed value, with exact numbers as received.
 * @throws RangeError if the value is nested too deeply to be serialised
 */
export function jsonText(value: unknown): string {
  return (holdsExactNumber(value) ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** Matches a JSON number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Matches a number with at least 18 significant digits. A double is never written with more than 17. */
const LONG_NUMBER = /^-?(?=\d{18}|[\d.]{19})[1-9]\d*(?:\.\d+)?(?<=[1-9])$/;

/**
 * Returns whether a text is a JSON number that a double cannot represent exactly. JSON output has such a
 * number as a text.
 */
export const isInexact = (text: string) =>
  LONG_NUMBER.test(text) || (String(Number(text)) !== text && NUMBER.test(text));

/** Returns the value of a number that a double cannot represent exactly. */
const exactNumber = (text: string) => (text === TOO_DEEP ? new TooDeep() : new LosslessNumber(text));

function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isLosslessNumber(value)) return true;
  for (const part of Array.isArray(value) ? value : Object.values(value))
    if (holdsExactNumber(part)) return true;
  return false;
}
