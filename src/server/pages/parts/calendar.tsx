import type { ComponentChildren } from 'preact';

const DAYS = 31;
const STEP = 12;
const FIELD = 11;
const MARGIN = 46;

/** Position and size of a field of a calendar. */
export interface FieldPlace {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface CalendarDay {
  /** A moment of the day, in ms since 1970. */
  readonly at: number;
  /** URL of the link of the day; null: no link. */
  readonly href: string | null;
  draw(place: FieldPlace): ComponentChildren;
}

/**
 * Days as a calendar, one row per month. The links of a calendar are only usable with a mouse, so the page
 * must contain the same links elsewhere.
 * @param label summary for screen readers
 */
export function Calendar({ days, label }: { readonly days: readonly CalendarDay[]; readonly label: string }) {
  const months = new Map<string, CalendarDay[]>();
  for (const day of days) {
    const month = new Date(day.at).toISOString().slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), day]);
  }
  return (
    <>
      <p class="unseen">{label}</p>
      <svg
        class="states calendar"
        viewBox={`0 0 ${MARGIN + DAYS * STEP} ${(months.size + 1) * STEP}`}
        aria-hidden="true"
      >
        {[1, 5, 10, 15, 20, 25, 30].map((date) => (
          <text x={MARGIN + (date - 0.5) * STEP} y={STEP - 4} text-anchor="middle">
            {date}
          </text>
        ))}
        {[...months].map(([month, fields], row) => (
          <g>
            <text x="0" y={(row + 2) * STEP - 3}>
              {month}
            </text>
            {fields.map(({ at, href, draw }) => (
              <a {...(href === null ? {} : { href })} tabIndex={-1}>
                {draw({
                  x: MARGIN + (new Date(at).getUTCDate() - 1) * STEP,
                  y: (row + 1) * STEP,
                  width: FIELD,
                  height: FIELD,
                })}
              </a>
            ))}
          </g>
        ))}
      </svg>
    </>
  );
}
