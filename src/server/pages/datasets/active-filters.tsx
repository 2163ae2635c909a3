import { OPERATOR_DESCRIPTIONS } from '../../../reporting/relations/filters.ts';
import type { FilterParameter } from '../../../reporting/relations/list-parameters.ts';
import { hrefOf, type Parameters, without } from './address.ts';

/** The active filters, each with a link that removes it. */
export function ActiveFilters({
  filters,
  path,
  parameters,
}: {
  readonly filters: readonly FilterParameter[];
  readonly path: string;
  readonly parameters: Parameters;
}) {
  const active = filters.flatMap(({ parameter, column, operator }) => {
    const value = parameters[parameter];
    if (value === undefined) return [];
    const words =
      operator === 'null'
        ? `is ${value === 'true' ? '' : 'not '}null`
        : `${OPERATOR_DESCRIPTIONS[operator]} ${value}`;
    return [{ parameter, column, words }];
  });
  if (active.length === 0) return null;
  return (
    <ul class="in-force" aria-label="Active filters">
      {active.map(({ parameter, column, words }) => (
        <li key={parameter}>
          <code>{column}</code> {words}{' '}
          <a
            href={hrefOf(path, without(parameters, parameter, 'after'))}
            aria-label={`Remove the filter: ${column} ${words}`}
          >
            ×
          </a>
        </li>
      ))}
      {active.length > 1 && (
        <li>
          <a href={hrefOf(path, without(parameters, 'after', ...active.map(({ parameter }) => parameter)))}>
            all away
          </a>
        </li>
      )}
    </ul>
  );
}
