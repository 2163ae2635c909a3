import { OPERATOR_DESCRIPTIONS } from '../../../reporting/relations/filters.ts';
import type { FilterParameter } from '../../../reporting/relations/list-parameters.ts';
import { MomentInput } from '../parts/fields.tsx';
import { Pager } from '../parts/pager.tsx';
import { changedAddress, type PageAddress, type Parameters, without } from './addresses.ts';

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

/** The active filters, each with a link that removes it. */
export function ActiveFilters({
  filters,
  place,
}: {
  readonly filters: readonly FilterParameter[];
  readonly place: PageAddress;
}) {
  const active = filters.flatMap(({ parameter, column, operator }) => {
    const value = place.parameters[parameter];
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
            href={changedAddress(place, { [parameter]: null })}
            aria-label={`Remove the filter: ${column} ${words}`}
          >
            ×
          </a>
        </li>
      ))}
      {active.length > 1 && (
        <li>
          <a href={changedAddress(place, Object.fromEntries(active.map((one) => [one.parameter, null])))}>
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
  place,
  asOf,
  note,
}: {
  readonly place: PageAddress;
  readonly asOf: string | null;
  readonly note?: string | undefined;
}) {
  return (
    <form class={`as-of ${asOf === null ? '' : 'past'}`} method="get" action={place.path} aria-label="As of">
      <HiddenFields of={without(place.parameters, 'as_of', 'after')} />
      <label for="as-of">As of</label>
      <MomentInput id="as-of" name="as_of" value={asOf ?? ''} />
      <span class="soft">UTC</span>
      <button class="plain" type="submit">
        Show
      </button>
      {asOf === null ? (
        <span class="soft">now</span>
      ) : (
        <a href={changedAddress(place, { as_of: null })}>Back to now</a>
      )}
      {asOf !== null && note !== undefined && <p class="soft">{note}</p>}
    </form>
  );
}

/** The links to other pages of a list, by the cursor in `after`. */
export function CursorPager({
  place,
  next,
  label,
}: {
  readonly place: PageAddress;
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
  readonly label: string;
}) {
  const first = place.parameters.after === undefined ? null : changedAddress(place, {});
  return <Pager first={first} next={next && changedAddress(place, { after: next })} label={label} />;
}
