import { parseInstant } from '../../../lib/instant.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { type DifferencesQuery, differencesFilters } from '../../../reporting/relations/differences.ts';
import { ActiveFilters } from './active-filters.tsx';
import { hrefOf, type Parameters, without } from './address.ts';
import { FilterField } from './filter-field.tsx';
import { HiddenFields } from './hidden-fields.tsx';
import { pathOf } from './relation-head.tsx';

const HOUR = 3_600_000;
const SPANS = [
  ['an hour', HOUR],
  ['a day', 24 * HOUR],
  ['7 days', 7 * 24 * HOUR],
  ['30 days', 30 * 24 * HOUR],
  ['90 days', 90 * 24 * HOUR],
] as const;

/** The form for the two moments to compare, and for filters. */
export function ChangesForm({
  dataset,
  question: { from, to },
  parameters,
  now,
}: {
  readonly dataset: ReadableDataset;
  readonly question: DifferencesQuery;
  readonly parameters: Parameters;
  readonly now: number;
}) {
  const path = pathOf(dataset.name, 'changes');
  const filters = differencesFilters(dataset);
  const offered = filters.filter(({ operator }) => operator === 'eq');
  const own = ['from', 'to', 'after', ...offered.map(({ parameter }) => parameter)];
  const end = to === null ? now : (parseInstant(to) ?? now);
  const begin = parseInstant(from) ?? end;
  return (
    <>
      <form class="filters" method="get" action={path} aria-label="Two moments">
        <HiddenFields of={without(parameters, ...own)} />
        <FilterField id="from" name="from" label="Then (UTC)" type="timestamptz" value={from} required />
        <FilterField id="to" name="to" label="Now (empty: now)" type="timestamptz" value={to ?? ''} />
        {offered.map(({ parameter, column, type }) => (
          <FilterField
            key={parameter}
            id={`of-${column}`}
            name={parameter}
            label={<code>{column}</code>}
            type={type}
            value={parameters[parameter] ?? ''}
          />
        ))}
        <button type="submit">Compare</button>
      </form>
      <ul class="choices" aria-label="How far back">
        {SPANS.map(([words, span]) => (
          <li key={words}>
            <a
              href={hrefOf(path, {
                ...without(parameters, 'after'),
                from: new Date(end - span).toISOString(),
              })}
              aria-current={Math.abs(end - begin - span) < 2_000 ? 'true' : undefined}
            >
              {words} back
            </a>
          </li>
        ))}
      </ul>
      <ActiveFilters filters={filters} path={path} parameters={parameters} />
    </>
  );
}
