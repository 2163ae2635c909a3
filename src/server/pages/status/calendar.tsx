import { useContext } from 'preact/hooks';
import type { WindowStates } from '../../../reports/nodes/windows.ts';
import { CurrentLinks, finer } from './links.ts';
import { StateBar } from './state-bars.tsx';

const DAYS = 31;
const STEP = 12;
const FIELD = 11;
const MARGIN = 46;

/** Days as a calendar: a row a month. @param windows whole days, but for the ends */
export function Calendar({
  node,
  windows,
  label,
}: {
  readonly node: string;
  readonly windows: readonly WindowStates[];
  readonly label: string;
}) {
  const links = useContext(CurrentLinks);
  const months = new Map<string, WindowStates[]>();
  for (const window of windows) {
    const month = new Date(window.from).toISOString().slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), window]);
  }
  return (
    <>
      <p class="unseen">{label}</p>
      <svg
        class="states calendar"
        viewBox={`0 0 ${MARGIN + DAYS * STEP} ${(months.size + 1) * STEP}`}
        // The links are for the mouse; the table below says the same.
        aria-hidden="true"
      >
        {[1, 5, 10, 15, 20, 25, 30].map((date) => (
          <text x={MARGIN + (date - 0.5) * STEP} y={STEP - 4} text-anchor="middle" key={date}>
            {date}
          </text>
        ))}
        {[...months].map(([month, days], row) => (
          <g key={month}>
            <text x="0" y={(row + 2) * STEP - 3}>
              {month}
            </text>
            {days.map((window) => (
              <a {...linkTo(finer(links, node, window))} tabIndex={-1} key={window.from}>
                <StateBar
                  window={window}
                  x={MARGIN + (new Date(window.from).getUTCDate() - 1) * STEP}
                  y={(row + 1) * STEP}
                  width={FIELD}
                  height={FIELD}
                />
              </a>
            ))}
          </g>
        ))}
      </svg>
    </>
  );
}

const linkTo = (href: string | null) => (href === null ? {} : { href });
