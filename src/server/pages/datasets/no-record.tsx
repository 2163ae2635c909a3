import type postgres from 'postgres';
import type { ComponentChildren } from 'preact';
import { parseInstant } from '../../../lib/instant.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { rowsParameters } from '../../../reporting/relations/row-query.ts';
import { readRows } from '../../../reporting/relations/rows.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { ValueText } from '../parts/value.tsx';
import { viewNamed } from './relations.ts';

/** Returns the start of the record of a dataset, as ISO 8601; null if nothing was recorded. */
export async function recordedSince(sql: postgres.Sql, { name }: ReadableDataset): Promise<string | null> {
  const view = viewNamed('recorded_since');
  const question = rowsParameters(view).parse({ dataset: name, sort: 'recorded_since', limit: '1' });
  const [first] = (await readRows(sql, view, question)).rows;
  return typeof first?.recorded_since === 'string' ? first.recorded_since : null;
}

/**
 * Returns the start of the record of a dataset if it is after a moment. Returns null if there is a record of
 * the moment, or nothing was recorded yet.
 * @param at in a format that PostgreSQL parses; null for now
 */
export async function recordStartAfter(
  sql: postgres.Sql,
  dataset: ReadableDataset | null,
  at: string | null,
): Promise<string | null> {
  const moment = at === null ? null : parseInstant(at);
  if (dataset === null || moment === null) return null;
  const since = await recordedSince(sql, dataset);
  return since !== null && Date.parse(since) > moment ? since : null;
}

/**
 * The notice for a moment before the first recording.
 * @param children links to other moments
 */
export function NoRecord({
  dataset,
  since,
  children,
}: {
  readonly dataset: string;
  readonly since: string;
  readonly children: ComponentChildren;
}) {
  return (
    <ErrorNotice what={`There is no record of ${dataset} at that moment.`}>
      <p>
        It has been recorded since <ValueText type="timestamptz" value={since} />: {children}.
      </p>
    </ErrorNotice>
  );
}
