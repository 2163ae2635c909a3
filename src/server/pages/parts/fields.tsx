import type { ComponentChildren } from 'preact';
import { fieldMoment } from '../texts.ts';
import { columnKind } from './value.tsx';

/** A form that filters a page by query parameters. */
export function Filters({ path, children }: { readonly path: string; readonly children: ComponentChildren }) {
  return (
    <form class="filters" method="get" action={path}>
      {children}
      <button type="submit">Show</button>
      <a class="button plain" href={path}>
        All
      </a>
    </form>
  );
}

/** The option of a filter that selects all rows. */
export const ANY = ['', 'any'] as const;

interface FieldProps {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly value: string | undefined;
  /** Default: the name. */
  readonly id?: string;
  /** PostgreSQL type of the value. Default: text. */
  readonly type?: string;
  /** Values to select from, with a label where it differs. Default: any value of the type. */
  readonly options?: readonly (string | readonly [value: string, label: string])[];
  readonly required?: boolean;
  readonly placeholder?: string | undefined;
  /** Id of a list of suggestions. */
  readonly list?: string | undefined;
  readonly 'aria-describedby'?: string;
}

/** A form field for a value, with a label. */
export function FormField({
  name,
  label,
  type = 'text',
  options,
  value = '',
  id = name,
  ...rest
}: FieldProps) {
  const input = { id, name, value, ...rest };
  const choices = options ?? (type === 'boolean' ? ['', 'true', 'false'] : undefined);
  const isMoment = type === 'timestamptz' || type === 'date';
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices ? (
        <select {...input}>
          {choices
            .map((one) => (typeof one === 'string' ? [one, one] : one))
            .map(([one, text]) => (
              <option value={one}>{text}</option>
            ))}
        </select>
      ) : isMoment ? (
        <MomentInput {...input} day={type === 'date'} />
      ) : (
        <input
          {...input}
          type="text"
          inputMode={columnKind(type) === 'number' ? 'decimal' : undefined}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </div>
  );
}

/**
 * An input for a moment in UTC, in ISO 8601 as in all texts. The island `moments` replaces the input with the
 * date control of the browser if that control also uses ISO 8601.
 * @param day true for a date. Default: an instant
 */
export function MomentInput({
  value,
  day = false,
  ...input
}: {
  readonly id: string;
  readonly name: string;
  /** An instant or a date; an empty text if there is none. */
  readonly value: string;
  readonly day?: boolean;
}) {
  return (
    <input
      {...input}
      value={day ? value : fieldMoment(value)}
      placeholder={day ? '2026-12-01' : '2026-12-01 12:00'}
      size={day ? 11 : 27} // as long as a moment with its microseconds
      data-control={day ? 'date' : 'datetime-local'}
      autocomplete="off"
      spellcheck={false}
    />
  );
}
