const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Characters that may follow a string. */
const AFTER_STRING = /[:,\]}\s]/;

/** Positions of strings in a JSON text, for queries in ascending order. */
export class JsonStrings {
  readonly #text: string;
  /** A position outside of strings. */
  #outside = 0;
  /** Position of the first quote after `#outside`, or a position before it. */
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
 * Returns whether a position provably follows a string, without a scan from the start. The text between two
 * quotes is either a string or the text after one, and these start with different characters. (After an
 * escaped quote, the string continues.)
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
export function findStringEnd(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
