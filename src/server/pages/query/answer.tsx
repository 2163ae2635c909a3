import { parseFields } from '../../../lib/parse-fields.ts';
import type { QueryResult } from '../../run-query.ts';
import { type Line, LineChart, type LineChartProps } from '../parts/line-chart.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { countText, numberText } from '../texts.ts';
import { queryLink } from './query-parameters.ts';

const MAX_LINES = 8;

/**
 * Returns the lines of a result: one line for each numeric column and each combination of texts, over the
 * first column of times.
 * @returns the lines, or the reason why there are none
 */
function answerLines(
  columns: QueryResult['columns'],
  rows: readonly (readonly (string | null)[])[],
): LineChartProps | { readonly why: string } {
  const indexes = (kind: string) => columns.flatMap((column, at) => (column.kind === kind ? [at] : []));
  const [time] = indexes('time');
  const numbers = indexes('number');
  if (time === undefined || numbers.length === 0)
    return { why: 'A chart needs a column of times and a column of numbers. The table shows this result.' };
  const texts = indexes('text');
  const lines = new Map<string, { label: string; points: [number, string | null][] }>();
  for (const row of rows) {
    const at = momentOf(row[time] ?? null);
    if (at === null) continue;
    const of = texts.map((one) => row[one] ?? '').join(' ');
    for (const number of numbers) {
      const label = [of, numbers.length > 1 || of === '' ? (columns[number]?.name ?? '') : '']
        .filter(Boolean)
        .join(' ');
      const line = lines.get(label) ?? { label, points: [] };
      lines.set(label, line);
      line.points.push([at, row[number] ?? null]);
    }
    if (lines.size > MAX_LINES)
      return {
        why: `There are more than ${MAX_LINES} lines: choose fewer columns of numbers and texts, or fewer rows.`,
      };
  }
  const drawnLines: Line[] = [...lines.values()].map(({ label, points }) => ({
    label,
    points: points.sort(([one], [other]) => one - other),
  }));
  return { lines: drawnLines, title: 'Result over time', window: null };
}

/**
 * Parses a time in the JSON format of PostgreSQL, in UTC if there is no time zone. Returns ms since 1970, or
 * null if the text is not a finite time, such as infinity.
 */
function momentOf(text: string | null): number | null {
  if (text === null) return null;
  const at = Date.parse(/T.*(Z|[+-]\d\d:\d\d)$|^[^T]*$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? null : at;
}

const MAX_TABLE_ROWS = 200;
/** Maximum length of a displayed cell, in characters; longer texts are truncated. */
const MAX_CELL_CHARACTERS = 1_000;
/** Maximum length of texts that do not wrap, in characters. A column with longer texts wraps. */
const MAX_UNWRAPPED_CHARACTERS = 48;

type Fields = readonly (string | null)[];

/** A result as a table with links, and with a chart above the table if requested. */
export function QueryResultSection({
  answer,
  params,
}: {
  readonly answer: QueryResult;
  readonly params: { readonly sql: string; readonly asOf: string | null; readonly show: 'table' | 'chart' };
}) {
  const rows = answer.rows.map(parseFields);
  const listed = rows.slice(0, MAX_TABLE_ROWS);
  const lines = params.show === 'chart' ? answerLines(answer.columns, rows) : null;
  return (
    <section aria-labelledby="answer">
      <div class="head">
        <h2 id="answer">{countOf(rows.length, answer.more)}</h2>
        <p class="actions">
          {params.show === 'table' && <a href={queryLink({ ...params, show: 'chart' })}>Chart</a>}
          <a href={queryLink(params)}>Link to this result</a>
          <a href={queryLink(params, '.csv')}>CSV</a>
          <a href={queryLink(params, '.json')}>JSON</a>
        </p>
      </div>
      {rows.length > 0 && (answer.more || rows.length > MAX_TABLE_ROWS) && (
        <p class="soft">
          {lines &&
            !('why' in lines) &&
            `The chart shows ${countOf(rows.length, answer.more).toLowerCase()}. `}
          The table shows the first {MAX_TABLE_ROWS} rows; CSV and JSON have up to {numberText(50_000)}.
        </p>
      )}
      {lines && ('why' in lines ? <p class="empty">{lines.why}</p> : <LineChart {...lines} />)}
      <Table
        caption="Result"
        columns={answer.columns.map((column, at) => columnAt(column, at, listed))}
        rows={listed}
        empty={
          answer.more
            ? 'The first row is too long for this page. The CSV and JSON files contain it.'
            : 'No rows.'
        }
      />
    </section>
  );
}

const countOf = (count: number, more: boolean) =>
  more && count > 0
    ? `The first ${countText(count, 'row')}`
    : countText(count, more ? 'row shown' : 'row', more ? 'rows shown' : 'rows');

function columnAt(
  { name, kind }: QueryResult['columns'][number],
  at: number,
  rows: readonly Fields[],
): TableColumn<Fields> {
  const long = rows.some((fields) => (fields[at]?.length ?? 0) > MAX_UNWRAPPED_CHARACTERS);
  const shape = kind === 'number' && !long ? 'number' : long ? 'wide' : undefined;
  return {
    name,
    ...(shape ? { kind: shape } : {}),
    cell: (fields) => {
      const text = fields[at] ?? null;
      if (text === null) return <span class="soft">null</span>;
      if (text.length <= MAX_CELL_CHARACTERS) return text;
      return (
        <>
          {text.slice(0, MAX_CELL_CHARACTERS)}
          <span class="soft">… {text.length} characters</span>
        </>
      );
    },
  };
}
