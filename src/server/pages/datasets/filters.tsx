import type { ComponentChildren } from 'preact';
import { OPERATOR_DESCRIPTIONS } from '../../../reporting/relations/filters.ts';
import type { FilterParameter } from '../../../reporting/relations/list-parameters.ts';
import { MomentField } from '../parts/moment-field.tsx';
import { hrefOf, type Parameters, without } from './addresses.ts';

/** Hidden fields of a form, which keep the other parameters of the URL. */
export function HiddenFields({ of }: { readonly of: Parameters }) {
  return (
    <>
      {Object.entries(of).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

interface FieldProps {
  readonly id: string;
  readonly name: string;
  /** PostgreSQL type of the value. */
  readonly type: string;
  readonly value: string;
  readonly required?: boolean;
}

/** A form field for a value of a PostgreSQL type, with a label. */
export function FilterField({ label, ...field }: FieldProps & { readonly label: ComponentChildren }) {
  return (
    <div class="field">
      <label for={field.id}>{label}</label>
      <Field {...field} />
    </div>
  );
}

function Field({ type, value, ...named }: FieldProps) {
  switch (type) {
    case 'boolean':
      return (
        <select {...named}>
          {['', 'true', 'false'].map((one) => (
            <option value={one} selected={one === value}>
              {one}
            </option>
          ))}
        </select>
      );
    case 'timestamptz':
      return <MomentField {...named} value={value} />;
    case 'date':
      return <MomentField {...named} value={value} day />;
    case 'numeric':
    case 'bigint':
    case 'integer':
    case 'double precision':
      return <input {...named} inputMode="decimal" value={value} />;
    default:
      return <input {...named} autocomplete="off" spellcheck={false} value={value} />;
  }
}

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
        <li>
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
            Clear all
          </a>
        </li>
      )}
    </ul>
  );
}

/**
 * The form for the moment of `as_of`. All links of the page keep the moment.
 * @param asOf the moment, in a format that PostgreSQL parses; null: now
 * @param note text below the field about the meaning of the moment. Default: none
 */
export function AsOf({
  path,
  parameters,
  asOf,
  note,
}: {
  readonly path: string;
  readonly parameters: Parameters;
  readonly asOf: string | null;
  readonly note?: string | undefined;
}) {
  const rest = without(parameters, 'as_of', 'after');
  return (
    <form class={`as-of ${asOf === null ? '' : 'past'}`} method="get" action={path} aria-label="As of">
      <HiddenFields of={rest} />
      <label for="as-of">As of</label>
      <MomentField id="as-of" name="as_of" value={asOf ?? ''} />
      <span class="soft">UTC</span>
      <button class="plain" type="submit">
        Show
      </button>
      {asOf === null ? <span class="soft">now</span> : <a href={hrefOf(path, rest)}>Back to now</a>}
      {asOf !== null && note !== undefined && <p class="soft">{note}</p>}
    </form>
  );
}
