import type { NodeCheck } from '../../../reporting/reports/nodes/node-record.ts';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { countText } from '../texts.ts';

/**
 * The checks that a node reports, collapsed if none fails.
 * @param open true if the list is expanded
 */
export function Checks({ checks, open }: { readonly checks: readonly NodeCheck[]; readonly open: boolean }) {
  if (checks.length === 0) return <p class="soft">The node reported no checks.</p>;
  const failing = checks.filter(({ state }) => state === 'down').length;
  const several = new Set(checks.map(({ observer }) => observer)).size > 1;
  return (
    <details id={`checks-of-${checks[0]?.node}`} open={open}>
      <summary>
        {countText(checks.length, 'check')}
        {failing > 0 && <>, {failing === 1 ? '1 failing' : `${failing} failing`}</>}
      </summary>
      <Table
        stacked
        caption={`Checks of ${checks[0]?.node}`}
        columns={[
          { name: 'Check', kind: 'name', cell: ({ check }: NodeCheck) => <code>{check}</code> },
          { name: 'State', cell: ({ state }) => <StateBadge is={state} /> },
          { name: 'Since', cell: ({ since }) => <Time at={since} exact /> },
          ...(several ? [seenBy] : []),
          { name: 'Message', kind: 'wide', cell: ({ error }) => error ?? '' },
        ]}
        rows={checks}
        empty=""
      />
    </details>
  );
}

const seenBy: TableColumn<NodeCheck> = { name: 'Seen by', kind: 'name', cell: ({ observer }) => observer };
