import type { ComponentChildren } from 'preact';
import { pickedMoment } from '../texts.ts';

interface FieldProps {
  readonly id: string;
  readonly name: string;
  /** PostgreSQL's type of the value. */
  readonly type: string;
  readonly value: string;
  readonly required?: boolean;
}

/** A form field for a value of a type, with its label. An empty field is no filter. */
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
            <option value={one} selected={one === value} key={one}>
              {one}
            </option>
          ))}
        </select>
      );
    case 'timestamptz':
      return <input {...named} type="datetime-local" step="any" value={pickedMoment(value)} />;
    case 'date':
      return <input {...named} type="date" value={value} />;
    case 'numeric':
    case 'bigint':
    case 'integer':
    case 'double precision':
      return <input {...named} inputMode="decimal" value={value} />;
    default:
      return <input {...named} autocomplete="off" spellcheck={false} value={value} />;
  }
}
