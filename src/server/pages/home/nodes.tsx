import { sortByUrgency, type WatchedNode } from '../../../reporting/reports/nodes/watched-nodes.ts';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { serverLinks } from '../status/links.ts';
import { NotListed } from '../status/more-nodes.tsx';

/** Maximum number of listed nodes; more would make the page slow to render and to read. */
const MAX_NODES = 200;

/** The current state of the nodes. */
export function Nodes({ nodes }: { readonly nodes: readonly WatchedNode[] }) {
  const ordered = sortByUrgency(nodes);
  return (
    <section class="panel" aria-labelledby="nodes">
      <h2 id="nodes">Nodes now</h2>
      <Table
        stacked
        caption="Nodes now"
        columns={columns}
        rows={ordered.slice(0, MAX_NODES)}
        keyOf={({ node }) => node}
        empty="No node is watched: name yours in upstreams.nodes of recorder.yaml."
      />
      {ordered.length > MAX_NODES && <NotListed nodes={ordered.slice(MAX_NODES)} />}
    </section>
  );
}

const columns: readonly Column<WatchedNode>[] = [
  { name: 'Node', kind: 'name', cell: ({ node }) => <a href={serverLinks.node(node)}>{node}</a> },
  {
    name: 'Health',
    evident: true,
    cell: ({ state }) => <State is={state === 'unrecorded' ? 'no record yet' : state} />,
  },
  { name: 'Since', cell: ({ since }) => <Time at={since} /> },
  {
    name: 'Why',
    kind: 'wide',
    cell: ({ error, failing_checks, unready }) =>
      error ?? (failing_checks.join(', ') || (unready ? 'not ready' : '')),
  },
];
