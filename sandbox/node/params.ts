import { isId, isNodeId } from '../ids/base58.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** Error for a parameter of the wrong type. Nodes respond with the same message to all of these. */
export class BadParams extends Error {}

/** The parameters of a JSON-RPC request: an object, a list of one object, or nothing. */
export class Params {
  readonly #values: JsonObject;

  constructor(params: Json | undefined) {
    const first = Array.isArray(params) ? params[0] : params;
    if (first === undefined || first === null) this.#values = {};
    else if (isObject(first)) this.#values = first;
    else throw new BadParams();
  }

  /** Returns a text; absent or null is the empty text. */
  text(name: string): string {
    const value = this.#values[name] ?? '';
    if (typeof value !== 'string') throw new BadParams();
    return value;
  }

  /** Returns an id in cb58; absent or null is the empty text. */
  id(name: string): string {
    const value = this.text(name);
    if (value !== '' && !isId(value)) throw new BadParams();
    return value;
  }

  /** Returns a list of node ids; absent or null is the empty list. */
  nodeIds(name: string): string[] {
    const values = this.texts(name);
    if (!values.every(isNodeId)) throw new BadParams();
    return values;
  }

  /** Returns a list of texts; absent or null is the empty list. */
  texts(name: string): string[] {
    const value = this.#values[name] ?? [];
    if (!Array.isArray(value)) throw new BadParams();
    return value.map((item) => {
      if (typeof item !== 'string') throw new BadParams();
      return item;
    });
  }

  /** Returns an unsigned integer, given as a number or a decimal string; absent is 0. */
  integer(name: string): number {
    const value = this.#values[name] ?? 0;
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) throw new BadParams();
    return number;
  }

  flag(name: string): boolean {
    const value = this.#values[name] ?? false;
    if (typeof value !== 'boolean') throw new BadParams();
    return value;
  }

  /** Returns the parameters within an object. */
  within(name: string): Params {
    return new Params(this.#values[name]);
  }

  /** Returns the encoding: hex unless json is requested and allowed. */
  encoding(allowed: readonly string[]): string {
    const encoding = this.text('encoding') || 'hex';
    if (!allowed.includes(encoding)) throw new BadParams();
    return encoding;
  }
}
