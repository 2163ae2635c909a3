import { pickedMoment } from '../texts.ts';
import { hrefOf, type Parameters, without } from './address.ts';
import { HiddenFields } from './hidden-fields.tsx';

/**
 * The form field for the moment of `as_of`, which all links keep.
 * @param asOf the moment, in a format that PostgreSQL parses; null for now
 * @param note the meaning of the moment on this page, if it is not "as known then"
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
      <label for="as-of">As known at</label>
      <input
        id="as-of"
        type="datetime-local"
        name="as_of"
        step="any"
        value={asOf === null ? '' : pickedMoment(asOf)}
      />
      <span class="soft">UTC</span>
      <button class="plain" type="submit">
        Show
      </button>
      {asOf === null ? <span class="soft">now</span> : <a href={hrefOf(path, rest)}>Back to now</a>}
      {asOf !== null && note !== undefined && <p class="soft">{note}</p>}
    </form>
  );
}
