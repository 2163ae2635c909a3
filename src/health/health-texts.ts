import { createHash } from 'node:crypto';
import { storableText } from '../datasets/storable-text.ts';
import { isExactNumber } from '../upstreams/json.ts';

/** Suffix of a truncated text. The original length follows. */
export const TRUNCATION_MARK = '… (cut, ';

const MAX_NAME_LENGTH = 200;
const MAX_ERROR_LENGTH = 8_000;
const MAX_MESSAGE_LENGTH = 64_000;
const MAX_DEPTH = 50;

/** Remaining size of one report, in characters, which limits the memory for reports. */
export interface TextBudget {
  left: number;
}

/** Returns the limit of a report, far above the size of real reports. */
export const createReportBudget = (): TextBudget => ({ left: 400_000 });

/**
 * Converts a name to a form that fits into an index. Different names stay different: a long name becomes its
 * start and a hash of the whole name. Reserved names are quoted.
 */
export function storableName(name: string, reserved: ReadonlySet<string>): string {
  const stored = storableText(name);
  if (reserved.has(stored)) return `"${stored}"`;
  if (stored.length <= MAX_NAME_LENGTH) return stored;
  const hash = createHash('sha256').update(stored).digest('hex').slice(0, 16);
  return `${stored.slice(0, MAX_NAME_LENGTH - 20).toWellFormed()}… ${hash}`;
}

/** Converts the text of an error for PostgreSQL, truncated to the limit. */
export function storableError(text: string, room: TextBudget): string {
  const truncated = truncateText(text, Math.min(MAX_ERROR_LENGTH, room.left));
  room.left -= truncated.length;
  return storableText(truncated);
}

/**
 * Converts a message of any structure to JSON text that PostgreSQL can store. Numbers outside the range of
 * numeric become texts. Values that are nested too deeply or too large are truncated, with a note.
 */
export function storableMessage(value: unknown, room: TextBudget): string {
  const mine = { left: Math.min(MAX_MESSAGE_LENGTH, room.left) };
  const before = mine.left;
  const text = jsonOf(value, mine, 0);
  room.left -= before - mine.left;
  return text;
}

/**
 * Returns the value as JSON text and reduces the remaining size. At the limit, the text may exceed the size
 * by a few characters.
 */
function jsonOf(value: unknown, room: TextBudget, depth: number): string {
  if (typeof value === 'string') return quoted(value, room);
  if (isExactNumber(value)) return numberOf(value.value, room);
  if (typeof value === 'number') return numberOf(Object.is(value, -0) ? '0' : String(value), room);
  if (typeof value !== 'object' || value === null) {
    room.left -= 5;
    return typeof value === 'boolean' ? String(value) : 'null';
  }
  const members = Array.isArray(value)
    ? value.map((part: unknown) => [null, part] as const)
    : Object.entries(value);
  room.left -= 2;
  if (depth >= MAX_DEPTH || room.left <= 0)
    return quoted(`${TRUNCATION_MARK}${members.length} members)`, room);
  const parts: string[] = [];
  for (const [key, part] of members) {
    if (room.left <= 0) {
      const rest = `${TRUNCATION_MARK}${members.length - parts.length} more)`;
      parts.push(key === null ? JSON.stringify(rest) : `${JSON.stringify(rest)}:null`);
      break;
    }
    const name = key === null ? '' : `${quoted(key, room)}:`;
    parts.push(name + jsonOf(part, room, depth + 1));
  }
  return Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`;
}

function quoted(text: string, room: TextBudget): string {
  const truncated = truncateText(text, room.left);
  room.left -= truncated.length + 3;
  return JSON.stringify(storableText(truncated));
}

/** Matches numbers that PostgreSQL can store without thousands of digits. All other numbers become texts. */
const STORABLE_NUMBER = /^-?\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,3})?$/;

function numberOf(source: string, room: TextBudget): string {
  if (!STORABLE_NUMBER.test(source)) return quoted(source, room);
  room.left -= source.length;
  return source;
}

/** Returns the text, or its start with a note of the original length. */
function truncateText(text: string, most: number): string {
  if (text.length <= most) return text;
  // A trailing half of a surrogate pair is removed, because it would look like data of the node.
  const start = text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '');
  return `${start}${TRUNCATION_MARK}${text.length} characters)`;
}
