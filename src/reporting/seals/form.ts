import { createHash } from 'node:crypto';
import { z } from 'zod';
import { recorded } from '../recorded-datasets.ts';

/** Schema of a name. Names are written into SQL statements without quotes. */
const name = z.string().regex(/^[a-z_][a-z0-9_]*$/);
const column = z.object({ name, type: z.string() });

/**
 * The columns of a table that are hashed, and their order. The form is stored with each seal, so rows that
 * were sealed before a column was added are still read without it.
 */
const sealForm = z.object({
  version: z.literal(1),
  /** Name of the table in the schema `recorder`. */
  table: name,
  /** One hash covers one row, or all rows of one observation of one run. */
  unit: z.enum(['row', 'look']),
  key: z.array(column),
  /** The column with the instant that determines the day of a row. */
  from: name,
  /** The other columns that never change after a row is recorded. */
  content: z.array(column),
  /** The column with the instant at which a row ended; null: rows do not end. */
  to: name.nullable(),
  /** Columns besides `to` that never change after a row ended. */
  end: z.array(column),
});

export type SealForm = z.infer<typeof sealForm>;
type Column = z.infer<typeof column>;

/** A table whose rows are sealed, under the name of its dataset. */
export interface SealedHistory {
  readonly dataset: string;
  readonly form: SealForm;
  /**
   * Writer of the rows. `run`: runs, in the order of their numbers. `observer`: an observer, whose rows are
   * settled up to an instant.
   */
  readonly writer: 'run' | 'observer';
}

const text = (name: string): Column => ({ name, type: 'text' });
const instant = (name: string): Column => ({ name, type: 'timestamptz' });
const bigint = (name: string): Column => ({ name, type: 'bigint' });

/** All sealed tables: the history of every dataset, and the absences of observers. */
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

/**
 * Returns the form of a dataset's history. Two kinds of columns are not sealed: the count of observations
 * that missed a row, and marks that are derived from other versions of the same key.
 */
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
      return { dataset: name, writer: 'run', form: form('valid_from', { to: 'valid_to' }) };
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

/** Returns the name of a form: the first 16 hexadecimal digits of the SHA-256 of its definition. */
export function nameOfForm(form: SealForm): string {
  return createHash('sha256')
    .update(JSON.stringify(sealForm.parse(form)))
    .digest('hex')
    .slice(0, 16);
}

/** Parses a stored form. @throws ZodError if the definition is not a form */
export const readForm = (definition: unknown): SealForm => sealForm.parse(definition);
