import { recordedNamed } from '../../../../reporting/recorded-datasets.ts';
import type { ReadableDataset } from '../../../../reporting/relations/catalogue.ts';
import { NOT_RECORDED_YET } from '../../../../reporting/relations/coverage-days.ts';
import type { Row } from '../../../../reporting/relations/rows.ts';

/** The fix of a gap: a command, or the reason why there is none. */
export type GapFix = { readonly command: string } | { readonly none: string };

/** Returns the command that fetches all gaps of a dataset that can still be fetched. */
export const formatHealCommand = ({ name }: ReadableDataset): string => `chain-recorder heal ${name}`;

/**
 * Returns the fix of a gap.
 * @param gap a row of `reporting.gaps`
 */
export function fixOfGap(dataset: ReadableDataset, gap: Row): GapFix {
  if (dataset.kind === 'ledger') return { none: 'The state stays unknown: no observer probed at that time.' };
  const axis = axisOf(dataset);
  if (gap.reason !== NOT_RECORDED_YET || axis === null) return { none: 'The data can no longer be fetched.' };
  const { target, range_start: from, range_end: to } = gap;
  const pairs = pairsOf(String(target));
  if (axis === 'height' || typeof from !== 'string' || typeof to !== 'string' || pairs === null)
    return { command: formatHealCommand(dataset) };
  const targets = pairs.map((pair) => ` --target ${shellWord(pair)}`).join('');
  return { command: `chain-recorder backfill ${dataset.name} --from ${from} --to ${to}${targets}` };
}

/** Returns the axis by which the past of a dataset can be requested, or null if it cannot. */
export function axisOf({ name }: ReadableDataset): 'time' | 'height' | null {
  const one = recordedNamed(name);
  return one === undefined || one.history === 'ledger' ? null : (one.source.range?.axis ?? null);
}

/**
 * Splits a target's name into `KEY=VALUE` pairs. Returns null if a value was too long for the name, which
 * then contains its hash.
 */
function pairsOf(target: string): string[] | null {
  if (target.includes('=sha256:')) return null;
  return target.split(/ (?=\w+=)/).filter((pair) => pair !== '');
}

/** Quotes a word of a command line for any shell. */
const shellWord = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
