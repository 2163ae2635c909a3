import type { ComponentChildren } from 'preact';
import { Empty } from './empty.tsx';

/** A column of a table. */
export interface Column<Row> {
  readonly name: string;
  /** What is in it, on demand. */
  readonly about?: string;
  /** What its head shows; absent: the name. */
  readonly head?: ComponentChildren;
  /** The rows are sorted by it. */
  readonly sorted?: 'ascending' | 'descending' | undefined;
  /** `number`: aligned to the right. `name`: short, and wraps where it is not. `wide`: long texts, which wrap. `bars`: a row of bars. Absent: short, on one line. */
  readonly kind?: 'number' | 'name' | 'wide' | 'bars' | undefined;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  /** What is in it, for those who do not see where it stands. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** What is told where there is no row. */
  readonly empty: ComponentChildren;
}

/** A table. The first column names the row. On a narrow screen it can be moved sideways, also with the keyboard. */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
    <section class="scroll" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, about, kind, head = name, sorted }) => (
              <th scope="col" class={kind} title={about} aria-sort={sorted} key={name}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, kind, cell }, at) =>
                at === 0 ? (
                  <th scope="row" class={kind} key={name}>
                    {cell(row)}
                  </th>
                ) : (
                  <td class={kind} key={name}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
