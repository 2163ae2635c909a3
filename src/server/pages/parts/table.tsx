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
  /** Its cells say by themselves what they are: a stacked row has them without the name. So do the first cell and long texts. */
  readonly evident?: true;
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
  /** On a narrow screen its rows are stacked: one below the other, with their texts whole. Absent: it can be moved sideways. */
  readonly stacked?: true;
}

/** A table. The first column names the row. What is wider than the screen can be moved sideways, also with the keyboard. */
export function Table<Row>({ caption, columns, rows, keyOf, empty, stacked }: TableProps<Row>) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled, so the keyboard has to reach it
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and a section would be one more landmark
    <div class={stacked ? 'scroll stacked' : 'scroll'} role="group" tabIndex={0} aria-label={caption}>
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
              {columns.map(({ name, kind, evident, cell }, at) =>
                at === 0 ? (
                  <th scope="row" class={kind} key={name}>
                    {cell(row)}
                  </th>
                ) : (
                  <td
                    class={kind}
                    data-name={stacked && !evident && kind !== 'wide' ? name : undefined}
                    key={name}
                  >
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
