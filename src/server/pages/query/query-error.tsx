import type { QuestionRefusal } from '../../../db/question.ts';
import { ErrorNotice } from '../parts/problem.tsx';

/** The error of PostgreSQL about a statement, with its position. */
export function QueryError({
  sql,
  refusal: { said, hint, position },
}: {
  readonly sql: string;
  readonly refusal: QuestionRefusal;
}) {
  const place = position === null ? null : placeIn(sql, position);
  return (
    <ErrorNotice what={said}>
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
 * Returns the line of a character and the word at it.
 * @param position in characters from 1, as PostgreSQL counts
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
