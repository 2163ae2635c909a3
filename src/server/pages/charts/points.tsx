import { pointsOf } from '../../../reporting/relations/lines.ts';
import { LiteralStatementBuilder } from '../../../reporting/relations/statement.ts';
import { Table, type TableColumn } from '../parts/table.tsx';
import { ValueText } from '../parts/value.tsx';
import { queryLink } from '../query/query-parameters.ts';
import { countText, momentText, numberText } from '../texts.ts';
import type { ChartRequest } from './chart-data.ts';
import { chartLink } from './link.ts';
import type { DrawnLine } from './read-lines.ts';
import { chartOf } from './zoom.tsx';

/** Maximum number of rows in the table. The newest rows are displayed. */
const MAX_TABLE_ROWS = 200;

/**
 * Table of the exact points of a chart, with links to all points as CSV and SQL. Points that differ between
 * two moments are marked.
 */
export function Points({
  drawing,
  lines,
  unreadBefore,
}: {
  readonly drawing: ChartRequest;
  readonly lines: readonly DrawnLine[];
  readonly unreadBefore: Date | null;
}) {
  const byTime = new Map<string, Map<string, string>>();
  const marked = new Map(lines.map(({ label, marks = [] }) => [label, new Set(marks)]));
  for (const { label, exact } of lines)
    for (const [at, value] of exact) {
      const row = byTime.get(at) ?? new Map<string, string>();
      byTime.set(at, row.set(label, value));
    }
  const rows = [...byTime].toSorted(([one], [other]) => (one < other ? 1 : -1));
  const drawn = lines.reduce((sum, { exact }) => sum + exact.length, 0);
  const all = lines.reduce((sum, { count }) => sum + count, 0);
  return (
    <section aria-labelledby="points">
      <div class="head">
        <h2 id="points">{countText(drawn, 'point')}</h2>
        <p class="actions">
          <a href={chartLink(chartOf(drawing))}>Link to this chart</a>
          {drawing.moments.flatMap((moment) => {
            const sql = sqlOf(drawing, moment);
            const of =
              drawing.moments.length > 1
                ? ` ${moment ? `as of ${momentText(new Date(moment))}` : 'as of now'}`
                : '';
            return [
              <a href={queryLink({ sql }, '.csv')}>{`CSV${of}`}</a>,
              <a href={queryLink({ sql })}>{`SQL${of}`}</a>,
            ];
          })}
        </p>
      </div>
      {drawn < all && (
        <p class="soft">
          {unreadBefore === null
            ? `The window has ${numberText(all)} points.`
            : `From ${momentText(unreadBefore)} on the window has ${numberText(all)} points.`}{' '}
          The chart draws the first, last, lowest and highest point of each part of the window. A shorter
          window shows more points.
        </p>
      )}
      {rows.length > MAX_TABLE_ROWS && (
        <p class="soft">The table shows the newest {MAX_TABLE_ROWS} points; the CSV file contains all.</p>
      )}
      <Table
        caption="Points"
        columns={[
          {
            name: drawing.drawable.ends === null ? drawing.drawable.time.name : 'at',
            cell: ([at]) => <ValueText type="timestamptz" value={at} />,
          },
          ...lines.map(
            ({ label }): TableColumn<(typeof rows)[number]> => ({
              name: label,
              kind: 'number',
              cell: ([at, values]) => {
                const text = valueText(values.get(label));
                return marked.get(label)?.has(Date.parse(at)) ? <mark>{text}</mark> : text;
              },
            }),
          ),
        ]}
        rows={rows.slice(0, MAX_TABLE_ROWS)}
        empty="No points in this window."
      />
    </section>
  );
}

/** Formats a number with all of its digits; other values, such as NaN, are unchanged. */
const valueText = (value: string | undefined) => {
  if (value === undefined) return '–';
  return /^-?\d+(\.\d+)?$/.test(value) ? numberText(value) : value;
};

/**
 * Returns the SQL statement that selects all points of a chart.
 * @param moment moment of the record; null: now
 */
function sqlOf({ drawable, ...linesQuery }: ChartRequest, moment: string | null): string {
  const { rows, conditions, at, ends, values, of, counted } = pointsOf(
    drawable,
    { ...linesQuery, asOf: moment },
    new LiteralStatementBuilder(),
  );
  const columns = [
    `${counted === null ? at : `date_trunc('${counted}', ${at}, 'UTC')`} as at`,
    ...(ends === null ? [] : [`${ends} as until`]),
    ...of,
    ...(counted === null ? values.map(([, value]) => value) : ['count(*)']),
  ];
  return [
    `select ${columns.join(', ')}`,
    `from ${rows} as r`,
    ...(conditions.length > 0 ? [`where ${conditions.join('\n  and ')}`] : []),
    ...(counted === null
      ? []
      : [
          `group by ${columns
            .slice(0, -1)
            .map((_, place) => place + 1)
            .join(', ')}`,
        ]),
    'order by 1',
  ].join('\n');
}
