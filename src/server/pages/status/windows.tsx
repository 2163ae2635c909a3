import { useContext } from 'preact/hooks';
import type { WindowStates } from '../../../reporting/reports/nodes/windows.ts';
import { spanText } from '../../../reporting/reports/uptime.ts';
import { type Column, Table } from '../parts/table.tsx';
import { countText } from '../texts.ts';
import { CurrentLinks, finer } from './links.ts';
import { uptimeText, windowText } from './state-words.ts';

/** The windows of the bars as a table, the newest first. */
export function Windows({
  node,
  windows,
}: {
  readonly node: string;
  readonly windows: readonly WindowStates[];
}) {
  const links = useContext(CurrentLinks);
  const seconds = (
    state: 'up' | 'down' | 'unknown' | 'maintenance' | 'unrecorded',
    name: string,
  ): Column<WindowStates> => ({
    name,
    kind: 'number',
    cell: (window) => (window[state] > 0 ? spanText(window[state]) : '–'),
  });
  return (
    <details>
      <summary>{countText(windows.length, 'part')} in numbers</summary>
      <Table
        caption="Each part of this time"
        columns={[
          {
            name: 'When (UTC)',
            cell: (window) => {
              const to = finer(links, node, window);
              return to === null ? windowText(window) : <a href={to}>{windowText(window)}</a>;
            },
          },
          { name: 'Uptime', kind: 'number', cell: uptimeText },
          seconds('up', 'Up'),
          seconds('down', 'Down'),
          seconds('unknown', 'Unknown'),
          seconds('maintenance', 'Maintenance'),
          seconds('unrecorded', 'No record'),
        ]}
        rows={windows.toReversed()}
        keyOf={({ from }) => from}
        empty=""
      />
    </details>
  );
}
