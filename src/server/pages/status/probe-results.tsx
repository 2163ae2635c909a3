import { useContext } from 'preact/hooks';
import type { NodeRange, ProbeResults } from '../../../reporting/reports/nodes/node-range.ts';
import { spanText } from '../../../reporting/reports/uptime.ts';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { numberText } from '../texts.ts';
import { CurrentLinks } from './links.ts';

const columns: readonly TableColumn<ProbeResults>[] = [
  { name: 'From', cell: ({ started_at }) => <Time at={started_at} exact /> },
  { name: 'To', cell: ({ ended_at, is_open }) => (is_open ? 'now' : <Time at={ended_at} exact />) },
  {
    name: 'Duration',
    kind: 'number',
    cell: ({ started_at, ended_at }) => spanText((ended_at.getTime() - started_at.getTime()) / 1000),
  },
  { name: 'State', cell: ({ state }) => <StateBadge is={state} /> },
  { name: 'Probes', kind: 'number', cell: ({ probes }) => (probes > 0 ? numberText(probes) : '–') },
  { name: 'Observer', kind: 'name', cell: ({ observer }) => observer },
  {
    name: 'Message',
    kind: 'wide',
    cell: ({ error, last_error }) =>
      last_error !== null && last_error !== error ? `${error ?? ''} … ${last_error}` : error,
  },
];

/** The results of probes, the newest first. Consecutive equal results are one row. */
export function ProbeResultsTable({ range }: { readonly range: NodeRange }) {
  const links = useContext(CurrentLinks);
  const oldest = range.probeResults.at(-1);
  const older =
    range.more && oldest
      ? links.range(range.node, {
          from: new Date(range.from).toISOString(),
          to: oldest.started_at.toISOString(),
        })
      : null;
  return (
    <>
      <p class="soft">
        Consecutive probes with the same result are one row. Response times are kept by hour, and after three
        weeks by day.
      </p>
      <Table
        stacked
        caption="Probe results"
        columns={columns}
        rows={range.probeResults}
        empty="No probes in this range."
      />
      {older && (
        <p>
          <a href={older}>Older probe results</a>
        </p>
      )}
      {range.more && !older && <p class="soft">Older results are not shown.</p>}
    </>
  );
}
