import { useContext } from 'preact/hooks';
import type { WindowStates } from '../../../reporting/reports/nodes/windows.ts';
import { Calendar as Days, type FieldPlace } from '../parts/calendar.tsx';
import { CurrentLinks, finer } from './links.ts';
import { StateBar } from './state-bars.tsx';

/**
 * Days of a node as a calendar.
 * @param windows whole days, except for the first and the last one
 */
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
  const days = windows.map((window) => ({
    at: window.from,
    href: finer(links, node, window),
    draw: (place: FieldPlace) => <StateBar window={window} {...place} />,
  }));
  return <Days days={days} label={label} />;
}
