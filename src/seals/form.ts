import { createHash } from 'node:crypto';
import { z } from 'zod';
import { recorded } from '../recorded.ts';

/** Names stand in statements as they are. */
const name = z.string().regex(/^[a-z_][a-z0-9_]*$/);
const column = z.object({ name, type: z.string() });

/**
 * How rows of a table become hashes: which columns, in which order. It is kept with each seal, so that what was sealed
 * before a column was added is still read as it was then.
 */
const sealForm = z.object({
  version: z.literal(1),
  /** In the schema `recorder`. */
  table: name,
  /** What one hash is of: a row, or all rows of one look of one run. */
  unit: z.enum(['row', 'look']),
  key: z.array(column),
  /** The instant of the day that a row belongs to. */
  from: name,
  /** What else is fixed when a row is recorded. */
  content: z.array(column),
  /** When a row ended, and what is fixed then; null: rows do not end. */
  to: name.nullable(),
  end: z.array(column),
});

export type SealForm = z.infer<typeof sealForm>;
type Column = z.infer<typeof column>;

/** A table whose rows are sealed, under the name of its dataset. */
export interface SealedHistory {
  readonly dataset: string;
  readonly form: SealForm;
  /** Who can still write what carries an instant of the past: runs, by their number, or an observer, up to its heartbeat. */
  readonly writer: 'run' | 'observer';
}

const text = (name: string): Column => ({ name, type: 'text' });
const instant = (name: string): Column => ({ name, type: 'timestamptz' });
const bigint = (name: string): Column => ({ name, type: 'bigint' });

/** Everything that is sealed: the history of every dataset, and when an observer did not look. */
export const sealedHistories: readonly SealedHistory[] = [
  ...recorded.map(historyOf),
  {
    dataset: 'health_absences',
    writer: 'observer' as const,
    form: {
      version: 1 as const,
      table: 'health_absences',
      unit: 'row' as const,
      key: [text('observer')],
      from: 'started_at',
      content: [text('reason')],
      to: 'ended_at',
      end: [],
    },
  },
].sort((one, other) => (one.dataset < other.dataset ? -1 : 1));

/** What of a row counts: not how many looks missed it, nor a mark that follows from the other versions of its key. */
function historyOf({ name, history, key, columns }: (typeof recorded)[number]): SealedHistory {
  const keys = columns.filter((one) => key.includes(one.name)).map(({ name, type }) => ({ name, type }));
  const rest = columns.filter((one) => !key.includes(one.name)).map(({ name, type }) => ({ name, type }));
  const content = [...rest, { name: 'extra', type: 'jsonb' }];
  const form = (from: string, more: Partial<SealForm> = {}): SealForm => ({
    version: 1,
    table: name,
    unit: 'row',
    key: keys,
    from,
    content: byName([...content, bigint('run_id')]),
    to: null,
    end: [],
    ...more,
  });
  switch (history) {
    case 'series':
    case 'log':
      return { dataset: name, writer: 'run', form: form('recorded_at', { to: 'superseded_at' }) };
    case 'state':
      return {
        dataset: name,
        writer: 'run',
        form: form('valid_from', { to: 'valid_to', end: [text('ended_by')] }),
      };
    case 'sample':
      return { dataset: name, writer: 'run', form: form('observed_at', { unit: 'look' }) };
    case 'ledger': {
      const begun = [
        { name: 'reported', type: 'boolean' },
        bigint('probes_before'),
        instant('failing_since'),
      ];
      const ended = [
        bigint('probes'),
        bigint('failures'),
        text('last_error'),
        { name: 'last_message', type: 'jsonb' },
      ];
      return {
        dataset: name,
        writer: 'observer',
        form: form('started_at', {
          content: byName([...content, ...begun]),
          to: 'ended_at',
          end: byName(ended),
        }),
      };
    }
  }
}

function byName(columns: readonly Column[]): Column[] {
  return [...columns].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A form's name: the begin of the sha-256 of its definition. */
export function nameOfForm(form: SealForm): string {
  return createHash('sha256')
    .update(JSON.stringify(sealForm.parse(form)))
    .digest('hex')
    .slice(0, 16);
}

/** A form as it was stored. @throws ZodError where it is none */
export const readForm = (definition: unknown): SealForm => sealForm.parse(definition);
