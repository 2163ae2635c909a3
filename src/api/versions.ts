import type { DeclaredColumn } from '../db/declared.ts';
import type { ReadableDataset } from './catalogue.ts';
import type { Readable } from './readable.ts';

/** Columns that tell of the recording, not of what was recorded. */
const OF_THE_RECORDING: ReadonlySet<string> = new Set([
  'run_id',
  'recorded_at',
  'superseded_at',
  'vanished',
  'vanished_at',
  'valid_from',
  'valid_to',
  'ended_by',
  'observed_at',
  'started_at',
  'ended_at',
  'is_open',
  'probes',
]);

/** Every version of a dataset's rows, with since when and until when each was so (`begins`, `ends`). */
export interface Versions {
  /** The rows as a {@link Readable}, for the types of columns. */
  readonly readable: Readable;
  /** SQL: a FROM item with the columns of the key, `content`, `begins` and `ends`. */
  readonly from: string;
  /** What a version says of a row. */
  readonly content: readonly DeclaredColumn[];
}

/** The versions of a dataset's rows. Of a log those that were said differently later are versions too. */
export function versionsOf({ name, kind, now, history, begins, ends }: ReadableDataset): Versions {
  const readable = history ?? now;
  const keyed = new Set(now.key.map((column) => column.name));
  const content = readable.columns.filter((one) => !keyed.has(one.name) && !OF_THE_RECORDING.has(one.name));
  const columns = [...keyed, ...content.map((column) => column.name)].map((one) => `"${one}"`).join(', ');
  // The open interval of a ledger is shown up to where it is settled, and lasts.
  const until =
    ends === null ? 'null::timestamptz' : kind === 'ledger' ? `case when not is_open then ${ends} end` : ends;
  const of = (view: string, end = until, where = '') =>
    `select ${columns}, ${begins} as begins, ${end} as ends from reporting.${view}${where}`;
  const from =
    kind === 'log'
      ? `${of(name)} union all ${of(`${name}_conflicts`, 'superseded_at', ' where differs is not null')}`
      : of(readable.name);
  return { readable, from: `(${from})`, content };
}
