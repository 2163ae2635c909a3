import type { ReadableDataset } from '../../../../reporting/relations/catalogue.ts';
import type { Coverage } from '../../../../reporting/relations/coverage-days.ts';
import { hrefOf, type Parameters, without } from '../address.ts';
import { FilterField } from '../filter-field.tsx';
import { Formats } from '../formats.tsx';
import { HiddenFields } from '../hidden-fields.tsx';
import { pathOf } from '../relation-head.tsx';

const DAY = 86_400_000;
const SPANS = [
  ['30 days', 30],
  ['90 days', 90],
  ['a year', 365],
] as const;

/** The form for the displayed days and the target. */
export function CoverageForm({
  dataset,
  parameters,
  coverage: { from, to },
}: {
  readonly dataset: ReadableDataset;
  readonly parameters: Parameters;
  readonly coverage: Coverage;
}) {
  const path = pathOf(dataset.name, 'coverage');
  const { target, from: begin = null, to: end = null } = parameters;
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY);
  return (
    <>
      <form class="filters" method="get" action={path} aria-label="Days and target">
        <HiddenFields of={without(parameters, 'from', 'to', 'target', 'after')} />
        <FilterField id="from" name="from" label="From" type="date" value={from.slice(0, 10)} />
        <FilterField id="to" name="to" label="To (empty: now)" type="date" value={(end ?? '').slice(0, 10)} />
        <FilterField id="target" name="target" label="Target" type="text" value={target ?? ''} />
        <button type="submit">Show</button>
      </form>
      <div class="head">
        <ul class="choices" aria-label="How long">
          {SPANS.map(([words, length]) => (
            <li key={words}>
              <a
                href={hrefOf(path, {
                  ...without(parameters, 'after'),
                  from: new Date(Date.parse(to) - length * DAY).toISOString().slice(0, 10),
                })}
                aria-current={Math.abs(days - length) <= 1 ? 'true' : undefined}
              >
                {words}
              </a>
            </li>
          ))}
          {target !== undefined && (
            <li>
              <a href={hrefOf(path, without(parameters, 'target', 'after'))}>all targets</a>
            </li>
          )}
        </ul>
        <p class="actions">
          <Formats
            address={(form) =>
              hrefOf(`/api/v1/datasets/${dataset.name}/coverage.${form}`, {
                from: begin,
                to: end,
                target: target ?? null,
              })
            }
            all="all days"
          />
        </p>
      </div>
    </>
  );
}
