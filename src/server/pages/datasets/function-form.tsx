import type { ReportingRelation } from '../../../reporting/relations/readable.ts';
import { without } from './address.ts';
import type { TableLocation } from './column-menu.tsx';
import { FilterField } from './filter-field.tsx';
import { HiddenFields } from './hidden-fields.tsx';

/** Returns whether a function can be called: it has no required parameters, or some parameter was given. */
export const canCallFunction = (
  { parameters }: ReportingRelation,
  given: Readonly<Record<string, unknown>>,
): boolean => {
  const needed = (parameters ?? []).filter(({ preset }) => preset === undefined);
  return needed.length === 0 || (parameters ?? []).some(({ name }) => given[name] !== undefined);
};

/** The form for the parameters of a function. The moment of `as_of` has a form of its own. */
export function FunctionForm({
  place: { readable, path, parameters },
}: {
  readonly place: Omit<TableLocation, 'shown'>;
}) {
  const taken = (readable.parameters ?? []).filter(({ name }) => name !== 'as_of');
  if (taken.length === 0) return null;
  return (
    <form class="filters" method="get" action={path}>
      <HiddenFields of={without(parameters, 'after', ...taken.map(({ name }) => name))} />
      {taken.map(({ name, type, comment, preset }) => (
        <FilterField
          key={name}
          id={`parameter-${name}`}
          label={
            <span title={comment}>
              <code>{name}</code>
              {preset === undefined ? '' : ' (may stay empty)'}
            </span>
          }
          name={name}
          type={type}
          value={parameters[name] ?? ''}
          required={preset === undefined}
        />
      ))}
      <button type="submit">Ask</button>
    </form>
  );
}
