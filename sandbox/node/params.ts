import { isId, isNodeId } from '../ids/base58.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';

/** Error for a parameter of the wrong type. Nodes respond with the same message to all such errors. */
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

  /** Returns a text parameter; the empty text if the parameter is absent or null. */
  text(name: string): string {
    const value = this.#values[name] ?? '';
    if (typeof value !== 'string') throw new BadParams();
    return value;
  }

  /** Returns an id in cb58; the empty text if the parameter is absent or null. */
  id(name: string): string {
    const value = this.text(name);
    if (value !== '' && !isId(value)) throw new BadParams();
    return value;
  }

  /** Returns a list of node ids; the empty list if the parameter is absent or null. */
  nodeIds(name: string): string[] {
    const values = this.texts(name);
    if (!values.every(isNodeId)) throw new BadParams();
    return values;
  }

  /** Returns a list of texts; the empty list if the parameter is absent or null. */
  texts(name: string): string[] {
    const value = this.#values[name] ?? [];
    if (!Array.isArray(value)) throw new BadParams();
    return value.map((item) => {
      if (typeof item !== 'string') throw new BadParams();
      return item;
    });
  }

  /** Returns an unsigned integer from a number or a decimal string; 0 if the parameter is absent. */
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

  /** Returns the parameters within an object parameter. */
  within(name: string): Params {
    return new Params(this.#values[name]);
  }

  /** Returns the requested encoding, which must be allowed. Default: hex. */
  encoding(allowed: readonly string[]): string {
    const encoding = this.text('encoding') || 'hex';
    if (!allowed.includes(encoding)) throw new BadParams();
    return encoding;
  }
}
