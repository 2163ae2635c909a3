import { z } from 'zod';
import { type Refusal, refusalOf } from '../../../db/question.ts';
import { written } from '../../../reporting/relations/filters.ts';
import type { Answered } from '../../run-query.ts';
import { definePage } from '../page.ts';
import { fieldMoment } from '../texts.ts';
import { Answer } from './answer.tsx';
import { Examples } from './examples.tsx';
import { Refused } from './query-error.tsx';
import { LONGEST, moment } from './question.ts';

/** Maximum number of rows that are read: a chart has more points than the table below it has rows. */
const TAKEN = { table: 200, chart: 10_000 } as const;
const CHARACTERS = 2_000_000;

const asked = z.strictObject({
  sql: written.default(''),
  as_of: moment,
  show: z.enum(['table', 'chart'], { error: 'must be table or chart' }).default('table'),
});

/** Result of the page: nothing if no query was given, a result, or a refusal. */
interface Found {
  readonly now: number;
  readonly answer: Answered | null;
  readonly refusal: Refusal | null;
}

/** `/query`: runs SQL as `recorder_reader`. A link reproduces the result. */
export const query = definePage({
  path: '/query',
  asked,
  async read({ ask, clock }, { sql, as_of, show }): Promise<Found> {
    const now = clock();
    if (sql.trim() === '') return { now, answer: null, refusal: null };
    const wanted = { form: 'values', rows: TAKEN[show], characters: CHARACTERS } as const;
    try {
      return { now, answer: await ask(sql, as_of, wanted), refusal: null };
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      return { now, answer: null, refusal };
    }
  },
  content: ({ now, answer, refusal }, { sql, as_of, show }) => ({
    title: 'Query',
    islands: show === 'chart' ? ['query', 'charts'] : ['query'],
    body: (
      <>
        <div class="head">
          <h1>Query</h1>
          <p class="soft">
            One statement over the schema <code>reporting</code>, as <code>recorder_reader</code>, which can
            only read.
          </p>
        </div>
        <form class="query" method="get" action="/query" data-query>
          <label for="sql">SQL</label>
          <textarea id="sql" name="sql" rows={8} spellcheck={false} autocomplete="off" required>
            {sql}
          </textarea>
          <div class="filters">
            <div>
              <label for="as_of">As known at (UTC; empty: now)</label>
              <input
                id="as_of"
                name="as_of"
                value={as_of ? fieldMoment(as_of) : ''}
                placeholder="2026-12-01 12:00"
                aria-describedby="as_of_about"
              />
            </div>
            <div>
              <label for="show">Show as</label>
              <select id="show" name="show">
                <option value="table">table</option>
                <option value="chart" selected={show === 'chart'}>
                  chart
                </option>
              </select>
            </div>
            <button type="submit">Ask</button>
            <button class="plain" type="button" data-cancel hidden>
              Cancel
            </button>
            <span class="soft" role="status" data-progress />
          </div>
          <p class="soft" id="as_of_about">
            The moment applies to unqualified names only: <code>validators</code>, not{' '}
            <code>reporting.validators</code>. An answer may take 10 s; a link holds {LONGEST} characters.
          </p>
        </form>
        {refusal && <Refused sql={sql} refusal={refusal} />}
        {answer && <Answer answer={answer} asked={{ sql, asOf: as_of, show }} />}
        <Examples now={now} />
      </>
    ),
  }),
});
