import { TRUNCATION_MARK } from './health-texts.ts';

/** Replacement of variable parts of a text. */
const PLACEHOLDER = '#';

/** Ids: node ids, hex, bech32 addresses, base58 of 20 bytes or more. Names such as C or P do not match. */
const IDS = [
  'NodeID-[1-9A-HJ-NP-Za-km-z]+',
  '0x[0-9a-fA-F]{6,}',
  '(?=[a-fA-F]*\\d)[0-9a-fA-F]{16,}',
  '(?:[PXC]-)?[a-z]{1,20}1[02-9ac-hj-np-z]{38}',
  '(?=[A-Za-z]*\\d|[a-z]*[A-Z])[1-9A-HJ-NP-Za-km-z]{32,64}',
];
const TIME =
  '\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?: ?(?:Z|UTC|[+-]\\d\\d:?\\d\\d(?: [A-Z]{3,4})?))?)?(?: m=[+-][\\d.]+)?';
/** Durations in the format of Go: `1h2m3.4s`, `500ms`, `1µs`. */
const DURATION = '[-+]?(?:\\d+(?:\\.\\d+)?(?:ns|us|µs|μs|ms|s|m|h))+';
/** Counts, percentages and sizes: `12`, `66.58%`, `1.5e-7`, `3 GiB`. */
const NUMBER = '[-+]?\\d+(?:[.,]\\d+)*(?:[eE][+-]?\\d+)?(?: ?%| ?[kKMGTPE]i?B)?';
const END = '(?![\\p{L}\\p{N}_]|[.,]\\d)';

/**
 * Matches a variable part or a whole word. Digits within a word (`C2`, `v1.11.3`, `chain-7`) belong to a
 * name. The HTTP status of a response is kept like a name.
 */
const TOKEN = new RegExp(
  `((?:${[...IDS, TIME, DURATION, NUMBER].join('|')})${END})|HTTP \\d{3}\\b|[\\p{L}\\p{N}_][\\p{L}\\p{N}_.-]*`,
  'gu',
);
/**
 * Matches lists of placeholders. Each list becomes one placeholder, so that a different number of ids is no
 * change.
 */
const LIST = /#(?:["'`\s,;]+#)+/g;

/**
 * Length to which truncated texts are compared, in characters, because the position of the truncation varies.
 */
const MAX_COMPARED_LENGTH = 1_000;

/**
 * Replaces durations, percentages, counts, times and ids in a text, so that texts that differ only in these
 * parts become equal.
 */
export function normalizeMessage(text: string): string {
  const gist = text
    .replace(TOKEN, (token: string, moving: string | undefined) =>
      moving === undefined ? token : PLACEHOLDER,
    )
    .replace(LIST, PLACEHOLDER);
  return text.includes(TRUNCATION_MARK) ? gist.slice(0, MAX_COMPARED_LENGTH) : gist;
}

/**
 * Normalizes a JSON text like {@link normalizeMessage}. All numbers are replaced, and members are sorted.
 * @param json well-formed JSON with few levels
 */
export function normalizeJsonMessage(json: string): string {
  const gist = normalizeValue(JSON.parse(json));
  return json.includes(TRUNCATION_MARK) ? gist.slice(0, MAX_COMPARED_LENGTH) : gist;
}

function normalizeValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(normalizeMessage(value));
  if (typeof value === 'number') return PLACEHOLDER;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) {
    const gists = value.map(normalizeValue);
    return `[${gists.filter((gist, at) => gist !== gists[at - 1]).join()}]`;
  }
  const members = Object.entries(value).map(
    ([key, part]) => `${JSON.stringify(normalizeMessage(key))}:${normalizeValue(part)}`,
  );
  return `{${[...new Set(members)].sort().join()}}`;
}
