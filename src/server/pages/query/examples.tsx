import { type Example, questionSql, questions, type Values } from '../../../reporting/reports/questions.ts';
import { queryLink } from './link.ts';

/** The moment to which the times in the examples refer. */
const EXAMPLES_MOMENT = Date.UTC(2026, 3, 2);
const DAY = 86_400_000;
const MOMENTS = ['from', 'to', 'as_of'];

/**
 * The predefined queries by heading, as links that run them for the time up to now.
 * @param now ms since 1970
 */
export function Examples({ now }: { readonly now: number }) {
  const later = Math.floor(now / DAY) * DAY - EXAMPLES_MOMENT;
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">Ready questions</h2>
      <p class="soft">Each fills in its SQL and asks it. Replace YOURS or YOUR with your own ids.</p>
      <div class="columns">
        {questions().map(({ heading, questions: ofHeading }) => (
          <details key={heading}>
            <summary>{heading}</summary>
            <ul class="plain">
              {ofHeading.flatMap((question) =>
                question.examples.map(({ words, values }: Example) => (
                  <li key={words}>
                    <a href={queryLink({ sql: questionSql(question, moved(values, later)) })}>{words}</a>
                  </li>
                )),
              )}
            </ul>
          </details>
        ))}
      </div>
    </section>
  );
}

/**
 * Shifts the moments in the values.
 * @param by in ms
 */
const moved = (values: Values, by: number): Values =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      MOMENTS.includes(name) ? new Date(Date.parse(utc(value)) + by).toISOString().slice(0, 16) : value,
    ]),
  );

const utc = (text: string) => (text.includes('T') ? `${text}Z` : text);
