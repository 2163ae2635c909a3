import type { ComponentChildren } from 'preact';

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

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}

/** A select field with an empty option. */
export function SelectField({
  name,
  label,
  value = '',
  words,
}: FieldProps & { readonly words: readonly string[] }) {
  return (
    <div>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        <option value="">any</option>
        {words.map((word) => (
          <option value={word} selected={word === value}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}
