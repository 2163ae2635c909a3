import { z } from 'zod';
import { explainRefusal, type QueryRefusal } from '../../../db/query-as-reader.ts';
import { limitedText } from '../../../reporting/relations/filters.ts';
import {
  type QueryExample,
  savedQueries,
  savedQuerySql,
  type Values,
} from '../../../reporting/reports/saved-queries.ts';
import type { QueryResult } from '../../run-query.ts';
import { definePage } from '../page.ts';
import { FormField } from '../parts/fields.tsx';
import { LinkList } from '../parts/link-list.tsx';
import { ErrorNotice } from '../parts/problem.tsx';
import { QueryResultSection } from './answer.tsx';
import { asOfParam, MAX_STATEMENT_CHARACTERS, queryLink } from './query-parameters.ts';

/** The moment to which the times in the examples refer. */
const EXAMPLES_MOMENT = Date.UTC(2026, 3, 2);
const DAY = 86_400_000;
/** Placeholder of the empty field. */
const EXAMPLE = 'select node_id, stake_navax from validators order by 2 desc nulls last limit 10';
const MOMENTS = ['from', 'to', 'as_of'];

/**
 * Links to the examples of the predefined queries, by heading. The times of the examples are shifted to the
 * time up to now.
 * @param now ms since 1970
 */
function Examples({ now }: { readonly now: number }) {
  const later = Math.floor(now / DAY) * DAY - EXAMPLES_MOMENT;
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">Saved queries</h2>
      <p class="soft">
        A link opens the SQL of a query and runs it. Replace YOURS or YOUR with your own ids.
      </p>
      <div class="columns">
        {savedQueries().map(({ heading, queries: ofHeading }) => (
          <details>
            <summary>{heading}</summary>
            <LinkList
              class="plain"
              links={ofHeading.flatMap((savedQuery) =>
                savedQuery.examples.map(({ text: label, values }: QueryExample) => ({
                  href: queryLink({ sql: savedQuerySql(savedQuery, moved(values, later)) }),
                  label,
                })),
              )}
            />
          </details>
        ))}
      </div>
    </section>
  );
}

/**
 * Shifts the moments in the values.
 * @param by shift, in ms
 */
const moved = (values: Values, by: number): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      MOMENTS.includes(name) ? new Date(Date.parse(utc(value)) + by).toISOString().slice(0, 16) : value,
    ]),
  );

const utc = (text: string) => (text.includes('T') ? `${text}Z` : text);

/**
 * Maximum number of rows that are read. A chart can contain more points than the table below the chart has
 * rows.
 */
const MAX_RESULT_ROWS = { table: 200, chart: 10_000 } as const;
const MAX_RESULT_CHARACTERS = 2_000_000;

const params = z.strictObject({
  sql: limitedText.default(''),
  as_of: asOfParam,
  show: z.enum(['table', 'chart'], { error: 'must be table or chart' }).default('table'),
});

/** Result or error of a query. Both are null if the request contains no query. */
interface QueryOutcome {
  readonly now: number;
  readonly answer: QueryResult | null;
  readonly refusal: QueryRefusal | null;
}

/** `/query`: runs SQL as `recorder_reader`. The URL contains the statement. */
export const queryPage = definePage({
  path: '/query',
  params,
  async read({ runQuery, clock }, { sql, as_of, show }): Promise<QueryOutcome> {
    const now = clock();
    if (sql.trim() === '') return { now, answer: null, refusal: null };
    const limits = {
      form: 'values',
      rows: MAX_RESULT_ROWS[show],
      characters: MAX_RESULT_CHARACTERS,
    } as const;
    try {
      return { now, answer: await runQuery(sql, as_of, limits), refusal: null };
    } catch (error) {
      const refusal = explainRefusal(error);
      if (!refusal) throw error;
      return { now, answer: null, refusal };
    }
  },
  content: ({ now, answer, refusal }, { sql, as_of, show }) => ({
    title: 'Query',
    islands: ['query', ...(show === 'chart' ? ['charts'] : [])],
    body: (
      <>
        <div class="head">
          <h1>Query</h1>
          <p class="soft">
            Enter one SQL statement on the schema <code>reporting</code>. The statement runs as{' '}
            <code>recorder_reader</code>, which can only read.
          </p>
        </div>
        <form class="query" method="get" action="/query" data-query>
          <label for="sql">SQL</label>
          <textarea
            id="sql"
            name="sql"
            rows={8}
            spellcheck={false}
            autocomplete="off"
            required
            placeholder={EXAMPLE}
          >
            {sql}
          </textarea>
          <div class="filters">
            <FormField
              name="as_of"
              label="As of (UTC; empty: now)"
              type="timestamptz"
              value={as_of ?? ''}
              aria-describedby="as_of_about"
            />
            <FormField name="show" label="Show as" value={show} options={['table', 'chart']} />
            <button type="submit">Run</button>
            <button class="plain" type="button" data-cancel hidden>
              Cancel
            </button>
            <span class="soft" role="status" data-progress />
          </div>
          <p class="soft" id="as_of_about">
            “As of” applies only to names without a schema: <code>validators</code>, not{' '}
            <code>reporting.validators</code>. The time limit is 10 s. A link can contain up to{' '}
            {MAX_STATEMENT_CHARACTERS} characters.
          </p>
        </form>
        {refusal && <QueryError sql={sql} refusal={refusal} />}
        {answer && <QueryResultSection answer={answer} params={{ sql, asOf: as_of, show }} />}
        <Examples now={now} />
      </>
    ),
  }),
});

/** The error of PostgreSQL about a statement, with its position. */
function QueryError({
  sql,
  refusal: { reason, hint, position },
}: {
  readonly sql: string;
  readonly refusal: QueryRefusal;
}) {
  const place = position === null ? null : placeIn(sql, position);
  return (
    <ErrorNotice what={reason}>
      {place && (
        <>
          <p>
            Line {place.line}, character {place.column}:
          </p>
          <pre class="marked">
            {place.before}
            <mark>{place.at}</mark>
            {place.after}
          </pre>
        </>
      )}
      {hint !== null && <p>{hint}</p>}
    </ErrorNotice>
  );
}

/**
 * Returns the line that contains a character, and the word that starts at the character.
 * @param position number of the character, starting with 1, as in errors of PostgreSQL
 */
function placeIn(sql: string, position: number) {
  const characters = [...sql];
  const offset = Math.min(Math.max(position - 1, 0), characters.length);
  const lines = characters.slice(0, offset).join('').split('\n');
  const before = lines.at(-1) ?? '';
  const rest = characters.slice(offset).join('').split('\n', 1)[0] ?? '';
  const [at = ' '] = /^\w+|^./u.exec(rest) ?? [];
  return { line: lines.length, column: [...before].length + 1, before, at, after: rest.slice(at.length) };
}
