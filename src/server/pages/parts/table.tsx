import type { ComponentChildren } from 'preact';

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

export interface TableColumn<Row> {
  readonly name: string;
  /** Description, displayed on demand. */
  readonly about?: string | undefined;
  /** Content of the header of the column. Default: the name. */
  readonly head?: ComponentChildren;
  /** Sort direction of the rows by this column; undefined: the rows are not sorted by this column. */
  readonly sorted?: 'ascending' | 'descending' | undefined;
  /**
   * `number`: aligned to the right. `name`: short, and wraps if it is long. `wide`: long texts, which wrap,
   * without the name of the column in stacked rows.
   * `bars`: a row of bars. Default: short, on one line.
   */
  readonly kind?: 'number' | 'name' | 'wide' | 'bars' | undefined;
  readonly cell: (row: Row) => ComponentChildren;
}

interface TableProps<Row> {
  /** Description for screen readers. */
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  /** Notice if there are no rows. */
  readonly empty: ComponentChildren;
  /**
   * True if the cells of each row are stacked on a narrow screen, with their whole texts. Default: the table
   * scrolls sideways.
   */
  readonly stacked?: true;
  /**
   * True if cells of many columns wrap, with soft texts on a separate line, so that the table fits a wide
   * screen.
   */
  readonly compact?: true;
}

/**
 * A table. The first column identifies the row. A table wider than the screen scrolls sideways, also with the
 * keyboard.
 */
export function Table<Row>({ caption, columns, rows, empty, stacked, compact }: TableProps<Row>) {
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  const classes = ['scroll', stacked && 'stacked', compact && 'compact'].filter(Boolean).join(' ');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the table can be scrolled, so it must have keyboard focus
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls, and a section would be one more landmark
    <div class={classes} role="group" tabIndex={0} aria-label={caption}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, about, kind, head = name, sorted }) => (
              <th scope="col" class={kind} title={about} aria-sort={sorted}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(({ name, kind, cell }, at) =>
                at === 0 ? (
                  <th scope="row" class={kind}>
                    {cell(row)}
                  </th>
                ) : (
                  <td class={kind} data-name={stacked && kind !== 'wide' ? name : undefined}>
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

/** A section with a table, whose caption is the heading. */
export function TableSection<Row>({ id, ...table }: TableProps<Row> & { readonly id: string }) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{table.caption}</h2>
      <Table {...table} />
    </section>
  );
}
