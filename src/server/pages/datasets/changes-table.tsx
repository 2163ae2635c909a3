import type { VNode } from 'preact';
import { parseExactInstant } from '../../../lib/instant.ts';
import type { DatasetRelations } from '../../../reporting/relations/catalogue.ts';
import type { DifferencesQuery, RowDifference } from '../../../reporting/relations/differences.ts';
import type { Row } from '../../../reporting/relations/rows.ts';
import type { Value } from '../../../reporting/relations/values.ts';
import { KeyValues } from '../parts/key-values.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { columnKind, ValueText } from '../parts/value.tsx';
import { momentText } from '../texts.ts';
import type { Parameters } from './addresses.ts';
import { chartOfRow } from './relation-head.tsx';
import { historyOf } from './rows-table.tsx';

/** A line of the table: one column of a row, before and after. */
interface DifferenceLine {
  readonly row: RowDifference;
  /** True for the first line of a row. */
  readonly first: boolean;
  /** Name of the column; null: the whole row. */
  readonly column: string | null;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
}

/**
 * Maximum number of columns for which added and removed rows are listed column by column. The values of wider
 * rows are displayed on demand.
 */
const MAX_LISTED_COLUMNS = 2;
const WORDS = { added: 'came', changed: 'changed', left: 'left' } as const;

/** The table of differences: values before and after, one line per column. */
export function ChangesTable({
  dataset,
  query: { from, to, order },
  rows,
}: {
  readonly dataset: DatasetRelations;
  readonly query: DifferencesQuery;
  readonly rows: readonly RowDifference[];
}) {
  const columns = (dataset.history ?? dataset.now).columns;
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  const abouts = new Map(columns.map(({ name, comment }) => [name, comment]));
  const typeOf = (name: string | null) => types.get(name ?? '') ?? 'text';
  const lines = rows.flatMap(linesOf);
  const asOf: Parameters = to === null ? {} : { as_of: to };
  const [then, now] = [parseExactInstant(from) ?? from, to === null ? null : (parseExactInstant(to) ?? to)];
  const numbers = lines.some(({ column }) => columnKind(typeOf(column)) === 'number');
  const formatValue = (value: Value | undefined, column: string | null) =>
    column === null ? (
      <Whole of={value} typeOf={typeOf} />
    ) : (
      <ValueText type={typeOf(column)} value={value ?? null} />
    );
  const tableColumns: TableColumn<DifferenceLine>[] = [
    {
      name: 'More',
      head: <span class="unseen">More</span>,
      cell: ({ row: { key }, first }) => {
        const history = historyOf(dataset, key, asOf);
        // The chart overlays both moments.
        const chart = chartOfRow(dataset, key, now, then);
        return (
          first && (
            <>
              {history !== null && <a href={history}>history</a>}{' '}
              {chart !== null && <a href={chart}>chart</a>}
            </>
          )
        );
      },
    },
    ...order.columns.map(
      ({ name }): TableColumn<DifferenceLine> => ({
        name,
        about: abouts.get(name),
        cell: ({ row, first }) => (
          <span class={first ? undefined : 'unseen'}>
            <ValueText type={typeOf(name)} value={row.key[name] ?? null} />
          </span>
        ),
      }),
    ),
    {
      name: 'Change',
      cell: ({ row: { change }, first }) => first && <StateBadge is={change}>{WORDS[change]}</StateBadge>,
    },
    {
      name: 'Column',
      cell: ({ column }) => (column === null ? <span class="soft">whole row</span> : <code>{column}</code>),
    },
    {
      name: `At ${momentText(new Date(then))}`,
      kind: numbers ? 'number' : undefined,
      cell: ({ before, column, row }) =>
        row.before === null ? <span class="soft">absent</span> : formatValue(before, column),
    },
    {
      name: now === null ? 'Now' : `At ${momentText(new Date(now))}`,
      kind: numbers ? 'number' : undefined,
      cell: ({ after, column, row }) =>
        row.after === null ? <span class="soft">absent</span> : marked(row, formatValue(after, column)),
    },
    ...(numbers
      ? [
          {
            name: 'Difference',
            about: 'Change of the number, as a share of the earlier value.',
            kind: 'number' as const,
            cell: ({ before, after, column }: DifferenceLine) =>
              columnKind(typeOf(column)) === 'number' ? shareText(before, after) : null,
          },
        ]
      : []),
  ];
  return (
    <Table
      caption={`Differences in ${dataset.now.name}`}
      columns={tableColumns}
      rows={lines}
      empty="No differences between the two moments."
    />
  );
}

/** Marks a value that changed. */
const marked = ({ change }: RowDifference, value: VNode) =>
  change === 'changed' ? <mark>{value}</mark> : value;

function linesOf(row: RowDifference): DifferenceLine[] {
  const { before, after, differs } = row;
  const whole = before ?? after ?? {};
  const filled = Object.entries(whole).flatMap(([name, value]) => (value === null ? [] : [name]));
  const names = differs.length > 0 ? differs : filled;
  if (differs.length === 0 && (names.length === 0 || names.length > MAX_LISTED_COLUMNS))
    return [{ row, first: true, column: null, before: before ?? undefined, after: after ?? undefined }];
  return names.map((column, at) => ({
    row,
    first: at === 0,
    column,
    before: before?.[column],
    after: after?.[column],
  }));
}

/** All values of a row, displayed on demand. */
function Whole({
  of,
  typeOf,
}: {
  readonly of: Value | undefined;
  readonly typeOf: (column: string) => string;
}) {
  const row = isRow(of) ? Object.entries(of).filter(([, value]) => value !== null) : [];
  return (
    <details>
      <summary>{row.length} values</summary>
      <KeyValues of={row.map(([name, value]) => [name, <ValueText type={typeOf(name)} value={value} />])} />
    </details>
  );
}

const isRow = (value: Value | undefined): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the relative change of a number, such as `+1.2 %`; an empty text if there is no such ratio. */
function shareText(before: Value | undefined, after: Value | undefined): string {
  if (before === undefined || after === undefined || before === null || after === null) return '';
  const [was, is] = [Number(before), Number(after)];
  if (!Number.isFinite(was) || !Number.isFinite(is) || was === 0) return '';
  const share = ((is - was) / Math.abs(was)) * 100;
  const size = Math.abs(share);
  const digits = size < 0.01 ? '< 0.01' : size >= 1000 ? Math.round(size) : size.toFixed(size < 1 ? 2 : 1);
  return `${share < 0 ? '−' : '+'}${digits} %`;
}
