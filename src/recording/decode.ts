import { z } from 'zod';
import type { Dataset, Target } from '../datasets/contract.ts';
import { validatePoint } from '../datasets/point-grid.ts';
import { getMember } from '../datasets/sources/answer.ts';
import { buildContradictionCheck } from '../datasets/stated-request.ts';
import { storableJson } from '../datasets/storable-text.ts';
import { unwrap } from '../datasets/unwrap.ts';
import { jsonText } from '../upstreams/json.ts';
import { itemColumns, keyColumns } from './histories/batch.ts';
import { canonicalText } from './histories/identity.ts';
import type { EncodedRow } from './histories/rows.ts';
import { buildItemReader } from './item-reader.ts';
import { type DecodedRow, SeenRows } from './seen-rows.ts';

/** Rows of a page, and the items that could not be decoded. */
export interface DecodedPage {
  readonly items: number;
  readonly rows: readonly DecodedRow[];
  readonly refused: readonly RejectedItem[];
  /**
   * False if two items with the same key differ, on one page or on two. In a log, items of different pages
   * may differ.
   */
  readonly consistent: boolean;
  /** True if two items of the same list have the same key and the same values. */
  readonly repeats: boolean;
}

/** An item that could not be decoded, and the reason. */
export interface RejectedItem {
  readonly reason: string;
  readonly item: unknown;
  /** A row in which only the key columns have values. Null if the key cannot be read. */
  readonly key: EncodedRow | null;
}

/** Target of the items, and the time of their observation in ms since 1970. */
export interface ItemContext {
  readonly target: Target;
  readonly now: number;
}

/** Decodes the responses of one dataset to rows. */
export interface Decoder {
  /**
   * Decodes the items of a page.
   * @param seenRows rows of the previous pages; rows of this page are added
   * @param now time of the observation, in ms since 1970. Default: no item counts as in the future.
   */
  page(body: unknown, target: Target, seenRows?: SeenRows, now?: number): DecodedPage;
  /** Decodes items that were already extracted from their page. */
  items(items: readonly unknown[], about: ItemContext, seenRows?: SeenRows): DecodedPage;
}

/**
 * Maximum length of a part of a key, in characters. PostgreSQL limits the size of index entries, and a longer
 * key would fail the commit of its page.
 */
const MAX_KEY_LENGTH = 500;
const MAX_ISSUES = 5;
/** Quarantine reason of the second of two contradicting items of one response. */
export const CONTRADICTION_REASON = 'an item of the same answer has the same key and other values';

/**
 * Builds the decoder of a dataset, which converts JSON items to rows of texts. Unknown fields become `extra`.
 */
export function buildDecoder(dataset: Dataset): Decoder {
  const decodeItem = buildRowDecoder(dataset);
  const keyOf = buildKeyReader(dataset);
  const types = [...itemColumns(dataset).map(({ type }) => type), 'jsonb'];
  const idOf = buildIdentity(dataset);
  const keepsBoth = dataset.history === 'log';
  const contradiction = buildContradictionCheck(dataset.states);
  const pointAt = keyColumns(dataset).at(-1)?.index ?? 0;
  const refusePointOf = (row: EncodedRow, target: Target, now: number) =>
    dataset.interval ? validatePoint(row[pointAt] ?? '', dataset.interval(target), now) : null;
  const decodeItems = (
    items: readonly unknown[],
    { target, now }: ItemContext,
    seenRows: SeenRows = new SeenRows(),
  ): DecodedPage => {
    const rows: DecodedRow[] = [];
    const refused: RejectedItem[] = [];
    let consistent = true;
    let repeats = false;
    seenRows.startPage();
    for (const item of items) {
      const row = decodeItem(item);
      if (typeof row === 'string') {
        refused.push({ reason: row, item, key: keyOf(item) });
        continue;
      }
      const reason = contradiction(item, target) ?? refusePointOf(row, target, now);
      if (reason !== null) {
        refused.push({ reason, item, key: row });
        continue;
      }
      const id = idOf(row);
      const earlier = seenRows.get(id);
      if (earlier && sameValues(earlier.row, row, types)) {
        repeats = seenRows.repeat(id) || repeats;
        continue;
      }
      if (earlier && (earlier.isOfThisPage || !keepsBoth)) {
        consistent = false;
        if (earlier.isOfThisPage) refused.push({ reason: CONTRADICTION_REASON, item, key: row });
        continue;
      }
      const decoded = { row, item, after: earlier?.decoded ?? null };
      seenRows.add(id, row, keepsBoth ? decoded : null);
      rows.push(decoded);
    }
    return { items: items.length, rows, refused, consistent, repeats };
  };
  return {
    page: (body, target, seenRows, now = Number.POSITIVE_INFINITY) =>
      decodeItems(dataset.items(body, target), { target, now }, seenRows),
    items: decodeItems,
  };
}

/**
 * Builds a function that returns the same text for two rows exactly if PostgreSQL considers their keys equal.
 */
function buildIdentity(dataset: Dataset): (row: EncodedRow) => string {
  const [first, ...others] = keyColumns(dataset);
  if (!first) return () => '';
  return (row) => {
    let id = canonicalText(row[first.index] ?? '', first.type);
    for (const { index, type } of others) id += `\u0000${canonicalText(row[index] ?? '', type)}`;
    return id;
  };
}

/** Builds a function that converts an item to a row, or returns the reason why it is invalid. */
function buildRowDecoder(dataset: Dataset): (item: unknown) => EncodedRow | string {
  const readItem = buildItemReader(dataset);
  const keys = keyColumns(dataset);
  const known = knownFields(dataset.item);
  const keepsExtra = dataset.extra ?? true;
  const ignored = new Set(dataset.ignore);
  return (item) => {
    try {
      const read = readItem(item);
      if (!read) return reasonOf(dataset.item.safeParse(item).error);
      const { row, named } = read;
      if (row.every((value) => value === null)) return 'the item has none of the documented fields';
      const extra = keepsExtra && !named && isObject(item) ? extraOf(item, known, ignored) : null;
      if (extra) row[row.length - 1] = storableJson(jsonText(extra));
      const long = keys.find(({ index }) => (row[index]?.length ?? 0) > MAX_KEY_LENGTH);
      return long ? `${long.name}: a key of at most ${MAX_KEY_LENGTH} characters expected` : row;
    } catch (error) {
      if (error instanceof RangeError) return `the item cannot be written: ${error.message}`;
      throw error;
    }
  };
}

/**
 * Builds a function that reads only the key of an item that cannot be decoded. The function returns null if a
 * part of the key is invalid.
 */
function buildKeyReader(dataset: Dataset): (item: unknown) => EncodedRow | null {
  const columns = itemColumns(dataset);
  const readers = keyColumns(dataset).map(({ index }) => {
    const path = columns[index]?.path ?? [];
    return { index, path, field: fieldAt(dataset.item, path) };
  });
  return (item) => {
    if (!isObject(item) || Array.isArray(item)) return null;
    const row: (string | null)[] = [...columns.map(() => null), null];
    for (const { index, path, field } of readers) {
      const result = field.safeParse(valueAt(item, path));
      if (!result.success) return null;
      row[index] = typeof result.data === 'string' ? result.data : null;
    }
    return row;
  };
}

function fieldAt(schema: z.ZodObject, path: readonly string[]): z.ZodType {
  let field: unknown = schema;
  for (const name of path) {
    const { inner } = unwrap(field);
    field = inner instanceof z.ZodObject ? inner.shape[name] : undefined;
  }
  if (!(field instanceof z.ZodType))
    throw new Error(`the schema of the items has no field ${path.join('.')}`);
  return field;
}

function sameValues(left: EncodedRow, right: EncodedRow, types: readonly string[]): boolean {
  return left.every((value, column) => {
    const other = right[column] ?? null;
    if (value === other) return true;
    if (value === null || other === null) return false;
    return canonicalText(value, types[column] ?? '') === canonicalText(other, types[column] ?? '');
  });
}

/** Returns the value at a path of an item. Inherited members are ignored. */
function valueAt(item: unknown, path: readonly string[]): unknown {
  let value = item;
  for (const name of path) value = getMember(value, name);
  return value;
}

/** Fields of the schema of an item, with nested objects by name. */
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

/** Returns the unknown members of an item in its own structure. Returns null if there are none. */
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
          ? (extraOf(value, inner, NO_FIELDS) ?? undefined)
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

/** Creates an object without a prototype, because a field may be called `__proto__`. */
function withoutPrototype(): Record<string, unknown> {
  return Object.create(null);
}

const NO_FIELDS: ReadonlySet<string> = new Set();

function reasonOf(error: z.ZodError | undefined): string {
  if (!error)
    return 'the item reader rejects an item that its schema accepts: this is a bug of chain-recorder';
  return error.issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `${path.join('.') || 'item'}: ${message}`)
    .join('; ');
}
