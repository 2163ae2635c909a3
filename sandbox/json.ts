/** JSON text that is written unchanged: for numbers beyond a double. */
export class Literal {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Anything that can be written as JSON; a bigint becomes a JSON number with all its digits. */
export type Json = string | number | bigint | boolean | null | Literal | readonly Json[] | JsonObject;

/** Members that are undefined are left out, as JSON.stringify does. */
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

/** True for an object, as opposed to a list, a literal or a plain value. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value) && !(value instanceof Literal);
}

/** Reads JSON text; undefined when it is not JSON. */
export function readJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
