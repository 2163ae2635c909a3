import { createHash } from 'node:crypto';
import type { Dataset } from '../datasets/contract.ts';
import { storableText } from '../datasets/storable-text.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { jsonText } from '../upstreams/json.ts';
import { CONTRADICTION_REASON } from './decode.ts';
import { keyColumns } from './histories/batch.ts';
import type { EncodedRow } from './histories/rows.ts';

/** An item for the quarantine, in a form that PostgreSQL accepts. */
export interface QuarantinedItem {
  readonly dataset: string;
  /** Hash of the item and the reason. Repetitions of an item with the same reason have the same hash. */
  readonly digest: string;
  readonly reason: string;
  readonly item: string;
}

const MAX_ITEM_LENGTH = 64_000;
const MAX_REASON_LENGTH = 1_000;
/** Number of nesting levels that are kept of an item that is nested too deeply to be serialised. */
const MAX_KEPT_LEVELS = 20;

/**
 * Converts an item for the quarantine.
 * @param key key by which the item is recognised when its other values change; null: all values are compared
 */
export function toQuarantinedItem(
  dataset: Dataset,
  { reason, item, key }: { readonly reason: string; readonly item: unknown; readonly key: EncodedRow | null },
): QuarantinedItem {
  const why = truncateText(storableText(reason), MAX_REASON_LENGTH);
  const known =
    key === null || why === CONTRADICTION_REASON
      ? itemText(withoutIgnored(item, dataset.ignore ?? []))
      : JSON.stringify(keyColumns(dataset).map(({ index }) => key[index] ?? null));
  return {
    dataset: dataset.name,
    digest: createHash('sha256').update(`${known}\n${why}`).digest('hex'),
    reason: why,
    item: truncateText(itemText(item), MAX_ITEM_LENGTH),
  };
}

/** Returns the item as JSON text with escapes in ASCII, so that PostgreSQL can store it. */
function itemText(item: unknown): string {
  try {
    return jsonText(item);
  } catch {
    try {
      return jsonText(shallow(item, MAX_KEPT_LEVELS));
    } catch (error) {
      return `(no JSON: ${toErrorMessage(error)})`;
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

/**
 * Removes the fields that belong to other datasets or change with every response. Two items that differ only
 * in such fields count as the same item.
 */
function withoutIgnored(item: unknown, ignored: readonly string[]): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item) || ignored.length === 0) return item;
  const kept: Record<string, unknown> = Object.create(null);
  for (const [name, part] of Object.entries(item)) if (!ignored.includes(name)) kept[name] = part;
  return kept;
}

const truncateText = (text: string, longest: number) =>
  text.length > longest ? text.slice(0, longest).toWellFormed() : text;
