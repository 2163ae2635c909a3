import {
  achievedText,
  type ObservedUptime,
  percentText,
  spanText,
} from '../../../reporting/reports/uptime.ts';
import { type Column, Table } from '../parts/table.tsx';

const columns: readonly Column<ObservedUptime>[] = [
  { name: 'Probe', cell: ({ probe }) => probe },
  { name: 'Observer', kind: 'name', cell: ({ observer }) => observer },
  {
    name: 'Uptime',
    kind: 'number',
    cell: ({ uptime }) => (uptime === null ? 'unknown' : percentText(uptime)),
  },
  { name: 'At least', kind: 'number', cell: (one) => achievedText(one).replace('≥ ', '') },
  { name: 'Up', kind: 'number', cell: ({ up_seconds }) => spanText(up_seconds) },
  { name: 'Down', kind: 'number', cell: ({ down_seconds }) => spanText(down_seconds) },
  { name: 'Unknown', kind: 'number', cell: ({ unknown_seconds }) => spanText(unknown_seconds) },
  { name: 'Maintenance', kind: 'number', cell: ({ maintenance_seconds }) => spanText(maintenance_seconds) },
];

/** The uptime of a node by probe and observer, since the observer started to watch it. */
export function UptimeByObserver({ observed }: { readonly observed: readonly ObservedUptime[] }) {
  return (
    <Table
      caption="By probe and observer"
      columns={columns}
      rows={observed}
      keyOf={({ probe, observer }) => `${probe} ${observer}`}
      empty="Nobody has looked at it yet."
    />
  );
}
