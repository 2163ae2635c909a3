const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What may stand right behind a string. */
const BEHIND_STRING = /[:,\]}\s]/;

/** Where a JSON text has strings, asked from its beginning to its end. */
export class Strings {
  readonly #text: string;
  /** A place outside of strings. */
  #outside = 0;
  /** The first quote from that place on, or one before it. */
  #quote: number;

  constructor(text: string) {
    this.#text = text;
    this.#quote = quoteFrom(text, 0);
  }

  /** The first place outside of strings that is not before `at`, where no string begins. */
  outsideFrom(at: number): number {
    if (isBehindString(this.#text, at)) this.#outside = at;
    else {
      if (this.#quote < this.#outside) this.#quote = quoteFrom(this.#text, this.#outside);
      while (this.#quote < at) {
        this.#outside = endOfString(this.#text, this.#quote) + 1;
        this.#quote = quoteFrom(this.#text, this.#outside);
      }
    }
    return Math.max(this.#outside, at);
  }
}

/**
 * Whether a place is seen to stand right behind a string, without a look at all strings before it: what is between two quotes is
 * either a string or what stands behind one, and their beginnings differ. (Behind an escaped quote its string goes on.)
 */
function isBehindString(text: string, at: number): boolean {
  if (text.charCodeAt(at - 1) !== QUOTE) return false;
  let begin = at - 2;
  while (begin >= 0 && text.charCodeAt(begin) !== QUOTE && text.charCodeAt(begin) !== BACKSLASH) begin -= 1;
  return begin < at - 2 && text.charCodeAt(begin) === QUOTE && !BEHIND_STRING.test(text.charAt(begin + 1));
}

/** Where the next quote is; the end of the text where there is none. */
function quoteFrom(text: string, begin: number): number {
  const at = text.indexOf('"', begin);
  return at < 0 ? text.length : at;
}

/** Where the string that begins at a quote ends; the end of the text where it does not. */
export function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
