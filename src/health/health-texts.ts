import { createHash } from 'node:crypto';
import { storableText } from '../datasets/storable-text.ts';
import { isExactNumber } from '../upstreams/json.ts';

/** The end of a text that was cut, before its length. */
export const CUT = '… (cut, ';

const LONGEST_NAME = 200;
const LONGEST_ERROR = 8_000;
const LONGEST_MESSAGE = 64_000;
const DEEPEST = 50;

/** How much of one report is kept, in characters: reports must not fill the memory. */
export interface Room {
  left: number;
}

/** Room for a report of any real node, many times over. */
export const roomForReport = (): Room => ({ left: 400_000 });

/**
 * A name in a form that fits into an index. Different names stay different: a long one is kept as its begin and a hash of
 * the whole. Reserved names are quoted.
 */
export function storableName(name: string, reserved: ReadonlySet<string>): string {
  const stored = storableText(name);
  if (reserved.has(stored)) return `"${stored}"`;
  if (stored.length <= LONGEST_NAME) return stored;
  const hash = createHash('sha256').update(stored).digest('hex').slice(0, 16);
  return `${stored.slice(0, LONGEST_NAME - 20).toWellFormed()}… ${hash}`;
}

/** The text of an error, as PostgreSQL stores it; cut when it is too long. */
export function storableError(text: string, room: Room): string {
  const kept = cut(text, Math.min(LONGEST_ERROR, room.left));
  room.left -= kept.length;
  return storableText(kept);
}

/**
 * A message of any shape as JSON text that PostgreSQL stores. Numbers beyond its numeric become texts; what nests or
 * reaches too far is cut, and says so.
 */
export function storableMessage(value: unknown, room: Room): string {
  const mine = { left: Math.min(LONGEST_MESSAGE, room.left) };
  const before = mine.left;
  const text = jsonOf(value, mine, 0);
  room.left -= before - mine.left;
  return text;
}

/** The value as JSON text; takes what it needs off the room, and a few characters more where that ends. */
function jsonOf(value: unknown, room: Room, depth: number): string {
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
  if (depth >= DEEPEST || room.left <= 0) return quoted(`${CUT}${members.length} members)`, room);
  const parts: string[] = [];
  for (const [key, part] of members) {
    if (room.left <= 0) {
      const rest = `${CUT}${members.length - parts.length} more)`;
      parts.push(key === null ? JSON.stringify(rest) : `${JSON.stringify(rest)}:null`);
      break;
    }
    const name = key === null ? '' : `${quoted(key, room)}:`;
    parts.push(name + jsonOf(part, room, depth + 1));
  }
  return Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`;
}

function quoted(text: string, room: Room): string {
  const kept = cut(text, room.left);
  room.left -= kept.length + 3;
  return JSON.stringify(storableText(kept));
}

/** Numbers that PostgreSQL holds without thousands of digits; every other as a text. */
const HELD = /^-?\d{1,1000}(?:\.\d{1,1000})?(?:[eE][+-]?\d{1,3})?$/;

function numberOf(source: string, room: Room): string {
  if (!HELD.test(source)) return quoted(source, room);
  room.left -= source.length;
  return source;
}

/** The text, or its begin with a note of how long it was. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Half a surrogate pair at the end would look as if the node had sent it.
  const begin = text.slice(0, Math.max(0, most)).replace(/[\ud800-\udbff]$/, '');
  return `${begin}${CUT}${text.length} characters)`;
}
