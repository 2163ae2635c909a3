import type { NodeNow } from '../../../reports/nodes-now.ts';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** How the nodes are now. */
export function Nodes({ nodes }: { readonly nodes: readonly NodeNow[] }) {
  return (
    <section class="panel" aria-labelledby="nodes">
      <h2 id="nodes">Nodes now</h2>
      <Table
        caption="Nodes now"
        columns={columns}
        rows={nodes}
        keyOf={({ node }) => node}
        empty="No node is watched: name yours in upstreams.nodes of recorder.yaml."
      />
    </section>
  );
}

const columns: readonly Column<NodeNow>[] = [
  { name: 'Node', cell: ({ node }) => node },
  { name: 'Health', cell: ({ health }) => <State is={health ?? 'not probed'} /> },
  { name: 'Since', cell: ({ since }) => <Time at={since} /> },
  {
    name: 'Why',
    kind: 'wide',
    cell: ({ error, failing_checks, readiness }) =>
      error ?? (failing_checks.join(', ') || (readiness === 'down' ? 'not ready' : '–')),
  },
];
