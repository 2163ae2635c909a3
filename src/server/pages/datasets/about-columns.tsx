import { without } from './address.ts';
import type { TableLocation } from './column-menu.tsx';
import { HiddenFields } from './hidden-fields.tsx';

/** The meaning of each column, and a form to select the displayed ones. */
export function AboutColumns({
  place: { readable, path, parameters, shown },
}: {
  readonly place: TableLocation;
}) {
  const hidden = readable.columns.length - shown.length;
  return (
    <details class="about-columns">
      <summary>
        {readable.columns.length} columns and what they mean{hidden > 0 ? `; ${hidden} hidden` : ''}
      </summary>
      <form method="get" action={path}>
        <HiddenFields of={without(parameters, 'columns')} />
        <ul>
          {readable.columns.map(({ name, type, comment }) => (
            <li key={name}>
              <label>
                <input type="checkbox" name="columns" value={name} checked={shown.includes(name)} />{' '}
                <code>{name}</code>
              </label>{' '}
              <span class="soft">{type}</span> {comment}
            </li>
          ))}
        </ul>
        <button type="submit">Show the ticked columns</button>
      </form>
    </details>
  );
}
