import { CUT } from './health-texts.ts';

/** Replaces a part of a text that changes from look to look. */
const MOVING = '#';

/** Ids: node ids, hex, bech32 addresses, base58 of 20 bytes and more. A name such as C or P is none. */
const IDS = [
  'NodeID-[1-9A-HJ-NP-Za-km-z]+',
  '0x[0-9a-fA-F]{6,}',
  '(?=[a-fA-F]*\\d)[0-9a-fA-F]{16,}',
  '(?:[PXC]-)?[a-z]{1,20}1[02-9ac-hj-np-z]{38}',
  '(?=[A-Za-z]*\\d|[a-z]*[A-Z])[1-9A-HJ-NP-Za-km-z]{32,64}',
];
const TIME =
  '\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?: ?(?:Z|UTC|[+-]\\d\\d:?\\d\\d(?: [A-Z]{3,4})?))?)?(?: m=[+-][\\d.]+)?';
/** Durations as Go writes them: `1h2m3.4s`, `500ms`, `1µs`. */
const DURATION = '[-+]?(?:\\d+(?:\\.\\d+)?(?:ns|us|µs|μs|ms|s|m|h))+';
/** Counts, shares and sizes: `12`, `66.58%`, `1.5e-7`, `3 GiB`. */
const NUMBER = '[-+]?\\d+(?:[.,]\\d+)*(?:[eE][+-]?\\d+)?(?: ?%| ?[kKMGTPE]i?B)?';
const END = '(?![\\p{L}\\p{N}_]|[.,]\\d)';

/**
 * A part that changes from look to look, or a whole word: digits within a word (`C2`, `v1.11.3`, `chain-7`) belong to a
 * name, and the status of an answer is kept like a name.
 */
const TOKEN = new RegExp(
  `((?:${[...IDS, TIME, DURATION, NUMBER].join('|')})${END})|HTTP \\d{3}\\b|[\\p{L}\\p{N}_][\\p{L}\\p{N}_.-]*`,
  'gu',
);
/** A list of ids counts as one id, so that another number of ids is no change. */
const LIST = /#(?:["'`\s,;]+#)+/g;

/** How much of a text that was cut is compared: the place of the cut changes, too. */
const COMPARED = 1_000;

/**
 * A text with durations, shares, counts, times and ids replaced: two texts that differ only in these become equal.
 */
export function gistOf(text: string): string {
  const gist = text
    .replace(TOKEN, (token: string, moving: string | undefined) => (moving === undefined ? token : MOVING))
    .replace(LIST, MOVING);
  return text.includes(CUT) ? gist.slice(0, COMPARED) : gist;
}

/**
 * The same for a JSON text: all numbers are replaced, and members are sorted.
 * @param json well-formed JSON of few levels
 */
export function jsonGistOf(json: string): string {
  const gist = valueGist(JSON.parse(json));
  return json.includes(CUT) ? gist.slice(0, COMPARED) : gist;
}

function valueGist(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(gistOf(value));
  if (typeof value === 'number') return MOVING;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) {
    const gists = value.map(valueGist);
    return `[${gists.filter((gist, at) => gist !== gists[at - 1]).join()}]`;
  }
  const members = Object.entries(value).map(
    ([key, part]) => `${JSON.stringify(gistOf(key))}:${valueGist(part)}`,
  );
  return `{${[...new Set(members)].sort().join()}}`;
}
