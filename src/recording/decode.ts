import { z } from 'zod';
import type { Dataset, Target } from '../datasets/contract.ts';
import { unwrap } from '../datasets/dataset.ts';
import { storableJson } from '../datasets/storable.ts';
import { messageOf } from '../errors.ts';
import { keyColumns } from '../history/missing.ts';
import type { Row } from '../history/rows.ts';
import { itemColumns } from '../history/writing.ts';
import { jsonText } from '../upstreams/json.ts';

/** The items of a page as rows, and those that are none, with the reason. */
export interface Decoded {
  readonly items: number;
  readonly rows: Row[];
  readonly refused: readonly { readonly reason: string; readonly item: string }[];
  /** False when there are two different items of the same key. */
  readonly consistent: boolean;
}

/**
 * Decodes the items of pages of one dataset.
 * @param byKey the rows that go into the same commit already, by natural key: it takes each key once
 */
export type Decode = (body: unknown, target: Target, byKey?: Map<string, Row>) => Decoded;

/** Decodes items that were taken out of their page already. */
export type DecodeItems = (items: readonly unknown[], byKey?: Map<string, Row>) => Decoded;

const LONGEST_ITEM = 64_000;
/** A part of a key goes into an index, whose entries PostgreSQL bounds: a longer one would fail its whole page. */
const LONGEST_KEY = 500;
const MOST_ISSUES = 5;

/** Builds a dataset's decoder of pages. */
export function buildDecoder(dataset: Dataset): Decode {
  const decodeItems = buildItemDecoder(dataset);
  return (body, target, byKey) => decodeItems(dataset.items(body, target), byKey);
}

/** Builds a dataset's decoder of items: JSON item → row of column texts, unknown fields kept in `extra`. */
export function buildItemDecoder(dataset: Dataset): DecodeItems {
  // The empty path holds the place of `extra`: an array that is appended to keeps room for many more.
  const columns = [...itemColumns(dataset).map(({ path }) => path), []];
  const keys = keyColumns(dataset);
  const key = keys.map(({ index }) => index);
  const known = knownFields(dataset.item);
  const keepsExtra = dataset.extra ?? true;
  const ignored = new Set(dataset.ignore);
  const distinct = dataset.history !== 'log';
  return (items, byKey = new Map()) => {
    const rows: Row[] = [];
    const refused: { reason: string; item: string }[] = [];
    let consistent = true;
    for (const item of items) {
      const result = dataset.item.safeParse(item);
      // Of the item itself: what Zod returns has lost a field called `__proto__`.
      const extra = result.success && keepsExtra && isObject(item) ? extraOf(item, known, ignored) : null;
      if (!result.success) {
        refused.push({ reason: reasonOf(result.error), item: itemText(item) });
        continue;
      }
      const row = columns.map((path) => leaf(result.data, path));
      row[row.length - 1] = extra === null ? null : storableJson(jsonText(extra));
      const long = keys.find(({ index }) => (row[index]?.length ?? 0) > LONGEST_KEY);
      if (long) {
        refused.push({
          reason: `${long.name}: a key of at most ${LONGEST_KEY} characters expected`,
          item: itemText(item),
        });
        continue;
      }
      if (!distinct) rows.push(row);
      else {
        const id = key.map((column) => row[column] ?? '').join('\u0000');
        const earlier = byKey.get(id);
        if (earlier && !earlier.every((value, column) => value === row[column])) consistent = false;
        if (earlier) continue;
        rows.push(row);
        byKey.set(id, row);
      }
    }
    return { items: items.length, rows, refused, consistent };
  };
}

function leaf(data: Readonly<Record<string, unknown>>, path: readonly string[]): string | null {
  let value: unknown = data;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return null;
    value = Reflect.get(value, name);
  }
  return typeof value === 'string' ? value : null;
}

/** The fields of an item's schema, nested objects by name. */
interface KnownFields {
  readonly names: ReadonlyMap<string, KnownFields | null>;
}

function knownFields(schema: z.ZodObject): KnownFields {
  const names = new Map<string, KnownFields | null>();
  for (const [name, member] of Object.entries(schema.shape)) {
    const { inner } = unwrap(member);
    names.set(name, inner instanceof z.ZodObject ? knownFields(inner) : null);
  }
  return { names };
}

/** What an item holds beyond its schema, in the item's own shape; null when that is nothing. */
function extraOf(item: object, known: KnownFields, ignored: ReadonlySet<string>): object | null {
  let extra: Record<string, unknown> | null = null;
  for (const name of Object.keys(item)) {
    const inner = known.names.get(name);
    if (inner === null) continue;
    const value: unknown = Reflect.get(item, name);
    const kept =
      inner === undefined
        ? ignored.has(name)
          ? undefined
          : value
        : isObject(value)
          ? (extraOf(value, inner, NOTHING) ?? undefined)
          : undefined;
    if (kept === undefined) continue;
    extra ??= withoutPrototype();
    extra[name] = kept;
  }
  return extra;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A field may be called `__proto__`. */
function withoutPrototype(): Record<string, unknown> {
  return Object.create(null);
}

const NOTHING: ReadonlySet<string> = new Set();

function reasonOf(error: z.ZodError): string {
  return error.issues
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => `${path.join('.') || 'item'}: ${message}`)
    .join('; ');
}

/** The item as JSON text, all escapes in ASCII, so that PostgreSQL stores it; cut where it is absurdly long. */
function itemText(item: unknown): string {
  try {
    const whole = jsonText(item);
    return whole.length > LONGEST_ITEM ? whole.slice(0, LONGEST_ITEM).toWellFormed() : whole;
  } catch (error) {
    return `(no JSON: ${messageOf(error)})`;
  }
}
