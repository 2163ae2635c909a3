import { createHash } from 'node:crypto';
import type { Dataset } from '../datasets/contract.ts';
import { storableText } from '../datasets/storable-text.ts';
import { messageOf } from '../lib/errors.ts';
import { jsonText } from '../upstreams/json.ts';
import { CONTRADICTS } from './decode.ts';
import { keyColumns } from './histories/batch.ts';
import type { Row } from './histories/rows.ts';

/** An item for the quarantine: nothing in it can be refused by PostgreSQL. */
export interface SetAside {
  readonly dataset: string;
  /** Equal for the same item and reason, however often it comes. */
  readonly digest: string;
  readonly reason: string;
  readonly item: string;
}

const LONGEST_ITEM = 64_000;
const LONGEST_REASON = 1_000;
/** How many levels are kept of an item that nests too deep to be written. */
const SHOWN_LEVELS = 20;

/**
 * Makes an item ready for the quarantine.
 * @param key its key, by which the same item is recognised when its other values change; null: all its values are compared
 */
export function setAside(
  dataset: Dataset,
  { reason, item, key }: { readonly reason: string; readonly item: unknown; readonly key: Row | null },
): SetAside {
  const why = cut(storableText(reason), LONGEST_REASON);
  const known =
    key === null || why === CONTRADICTS
      ? itemText(withoutIgnored(item, dataset.ignore ?? []))
      : JSON.stringify(keyColumns(dataset).map(({ index }) => key[index] ?? null));
  return {
    dataset: dataset.name,
    digest: createHash('sha256').update(`${known}\n${why}`).digest('hex'),
    reason: why,
    item: cut(itemText(item), LONGEST_ITEM),
  };
}

/** The item as JSON text, all escapes in ASCII, so that PostgreSQL stores it. */
function itemText(item: unknown): string {
  try {
    return jsonText(item);
  } catch {
    try {
      return jsonText(shallow(item, SHOWN_LEVELS));
    } catch (error) {
      return `(no JSON: ${messageOf(error)})`;
    }
  }
}

function shallow(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null || 'isLosslessNumber' in value) return value;
  if (levels === 0) return '(nested deeper)';
  if (Array.isArray(value)) return value.map((part: unknown) => shallow(part, levels - 1));
  const all: Record<string, unknown> = Object.create(null);
  for (const [name, part] of Object.entries(value)) all[name] = shallow(part, levels - 1);
  return all;
}

/** Removes fields that belong to other datasets or change with every look: they do not make it another item. */
function withoutIgnored(item: unknown, ignored: readonly string[]): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || ignored.length === 0) return item;
  const kept: Record<string, unknown> = Object.create(null);
  for (const [name, part] of Object.entries(item)) if (!ignored.includes(name)) kept[name] = part;
  return kept;
}

const cut = (text: string, longest: number) =>
  text.length > longest ? text.slice(0, longest).toWellFormed() : text;
