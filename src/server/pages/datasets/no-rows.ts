import type postgres from 'postgres';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { agoText, countText, durationWords } from '../texts.ts';

interface Recording {
  readonly targets: number;
  readonly polled: number;
  readonly failing: number;
  readonly last_success_at: Date | null;
  readonly error: string | null;
}

/**
 * Describes why a dataset has no rows, and when its rows are expected.
 * @param now in ms since 1970
 */
export async function explainNoRows(
  sql: postgres.Sql,
  dataset: ReadableDataset,
  now: number,
): Promise<string> {
  const [found] = await sql<Recording[]>`
    select count(*)::int as targets, count(f.last_success_at)::int as polled,
      count(*) filter (where f.last_success_at is null and f.last_failure is not null)::int as failing,
      max(f.last_success_at) as last_success_at, max(f.last_failure) as error
    from reporting.freshness f where f.dataset = ${dataset.name}`;
  const every = `it is recorded every ${durationWords(dataset.every / 1000)}`;
  if (!found || found.targets === 0)
    return 'No rows: the configuration does not record it. docs/reference/datasets describes what each dataset needs.';
  if (found.polled > 0)
    return `No rows: the upstream returned none so far. Last poll ${agoText(found.last_success_at?.getTime() ?? now, now)}; ${every}.`;
  if (found.failing > 0)
    return `No rows yet: ${countText(found.failing, 'target')} failed, and will be retried: ${found.error}`;
  return `No rows yet: the first polls of ${countText(found.targets, 'target')} are under way, and rows appear within seconds to minutes; then ${every}.`;
}
