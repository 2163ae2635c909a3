import type postgres from 'postgres';
import type { ReadableDataset } from '../../../api/catalogue.ts';
import { readRows } from '../../../api/rows.ts';
import { rowsParameters } from '../../../api/rows-question.ts';
import { instantIn } from '../../../instant.ts';
import { Problem } from '../parts/problem.tsx';
import { ValueText } from '../parts/value.tsx';
import { hrefOf, type Parameters } from './address.ts';
import { viewNamed } from './relations.ts';

/**
 * Since when a dataset is recorded, where that is after a moment; null: there is a record of the moment, or nothing is recorded yet.
 * @param at as PostgreSQL reads it; null: now
 */
export async function recordOf(
  sql: postgres.Sql,
  dataset: ReadableDataset | null,
  at: string | null,
): Promise<string | null> {
  const moment = at === null ? null : instantIn(at);
  if (dataset === null || moment === null) return null;
  const view = viewNamed('recorded_since');
  const question = rowsParameters(view).parse({ dataset: dataset.name, sort: 'recorded_since', limit: '1' });
  const [first] = (await readRows(sql, view, question)).rows;
  const since = first?.recorded_since;
  return typeof since === 'string' && Date.parse(since) > moment ? since : null;
}

/** What is told of a moment before the first recording. */
export function NoRecord({
  dataset,
  path,
  parameters,
  since,
}: {
  readonly dataset: string;
  readonly path: string;
  readonly parameters: Parameters;
  readonly since: string;
}) {
  return (
    <Problem what={`There is no record of ${dataset} at that moment.`}>
      <p>
        It has been recorded since <ValueText type="timestamptz" value={since} />:{' '}
        <a href={hrefOf(path, { ...parameters, as_of: since })}>show what was known then</a>, or{' '}
        <a href={hrefOf(path, { ...parameters, as_of: null })}>what is known now</a>.
      </p>
    </Problem>
  );
}
