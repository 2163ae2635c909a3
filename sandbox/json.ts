/** JSON text that is written unchanged, for numbers that a double cannot represent. */
export class Literal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that can be written as JSON. A bigint is written as a JSON number with all its digits. */
export type Json = string | number | bigint | boolean | null | Literal | readonly Json[] | JsonObject;

/** A JSON object. Undefined members are omitted, as by JSON.stringify. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`${value} is no JSON number`);
  return String(value);
}

function writeObject(value: JsonObject): string {
  let text = '';
  for (const key in value) {
    const member = value[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${writeJson(member)}`;
  }
  return `{${text}}`;
}

/** Writes a value as JSON text, in the order of its members, without white space. */
export function writeJson(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return writeNumber(value);
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Literal) return value.text;
  if (isList(value)) return `[${value.map(writeJson).join(',')}]`;
  return writeObject(value);
}

/** Returns whether a value is an object, not a list, a literal or a plain value. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Literal);
}

/** Parses JSON text. Returns undefined if the text is not JSON. */
export function readJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
