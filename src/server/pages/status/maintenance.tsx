import { useContext } from 'preact/hooks';
import type { MaintenanceAhead } from '../../../reporting/reports/nodes/maintenance-ahead.ts';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { CurrentLinks } from './links.ts';

/**
 * Current and future announced maintenance.
 * @param now ms since 1970
 */
export function Maintenance({
  windows,
  now,
}: {
  readonly windows: readonly MaintenanceAhead[];
  readonly now: number;
}) {
  const links = useContext(CurrentLinks);
  return (
    <Table
      caption="Announced maintenance"
      columns={[
        {
          name: 'Nodes',
          kind: 'name',
          cell: ({ nodes }: MaintenanceAhead) =>
            nodes === null
              ? 'all nodes'
              : nodes.map((node, at) => (
                  <span key={node}>
                    {at > 0 && ', '}
                    <a href={links.node(node)}>{node}</a>
                  </span>
                )),
        },
        {
          name: 'State',
          cell: ({ from }) => (
            <State is="maintenance">{from.getTime() <= now ? 'continues' : 'announced'}</State>
          ),
        },
        { name: 'From', cell: ({ from }) => <Time at={from} exact /> },
        { name: 'To', cell: ({ to }) => <Time at={to} exact /> },
        { name: 'Why', kind: 'wide', cell: ({ reason }) => reason ?? '' },
      ]}
      rows={windows}
      keyOf={({ nodes, from, to }) => `${nodes?.join()} ${from.getTime()} ${to.getTime()}`}
      empty="No maintenance is announced."
    />
  );
}
