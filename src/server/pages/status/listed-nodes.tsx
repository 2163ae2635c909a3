import { useContext } from 'preact/hooks';
import { type NodeStatus, STATUS_DAYS, spanNames } from '../../../reporting/reports/nodes/nodes-status.ts';
import { sortByUrgency } from '../../../reporting/reports/nodes/watched-nodes.ts';
import { Empty, Table, type TableColumn } from '../parts/table.tsx';
import { CurrentLinks, finer } from './links.ts';
import { Checks, LatencyNote, NodeStateBadge, NotListed, UptimeFact } from './node-parts.tsx';
import { StateBars } from './state-bars.tsx';
import { summaryWords } from './state-texts.ts';

/** Maximum number of nodes with full details. Each takes half a screen. */
const MAX_FULL_NODES = 30;
/** Maximum number of listed nodes. Each takes up to 20 kB. */
const MAX_NODES = 200;

/**
 * A list of nodes. Up to {@link MAX_FULL_NODES} nodes are displayed with full details, in their order. With
 * more nodes, only nodes with problems have full details, others have one line each, and nodes beyond {@link
 * MAX_NODES} are counted by state.
 */
export function ListedNodes({ nodes }: { readonly nodes: readonly NodeStatus[] }) {
  if (nodes.length === 0) return <Empty>No node is watched.</Empty>;
  if (nodes.length <= MAX_FULL_NODES) return nodes.map((node) => <Node node={node} />);
  const ordered = sortByUrgency(nodes);
  const full = new Set(ordered.filter(hasProblem).slice(0, MAX_FULL_NODES));
  const others = ordered.filter((node) => !full.has(node));
  const listed = MAX_NODES - full.size;
  return (
    <>
      {[...full].map((node) => (
        <Node node={node} />
      ))}
      <Lines nodes={others.slice(0, listed)} />
      {others.length > listed && <NotListed nodes={others.slice(listed)} />}
    </>
  );
}

const hasProblem = ({ state, failing_checks }: NodeStatus) => state !== 'up' || failing_checks.length > 0;

function Node({ node }: { readonly node: NodeStatus }) {
  const { spans } = node;
  return (
    <article class="panel node">
      <div class="head">
        <h3>
          <NodeLink node={node.node} />
        </h3>
        <NodeStateBadge node={node} />
      </div>
      {node.error !== null && node.state !== 'up' && (
        <p class="reason">
          <q>{node.error}</q>
        </p>
      )}
      <Days node={node} />
      <p class="axis soft" aria-hidden="true">
        <span>{STATUS_DAYS} days ago</span>
        <span>today</span>
      </p>
      <dl class="facts uptimes">
        {spanNames.map((name) => (
          <div>
            <dt>Uptime, {name}</dt>
            <dd>
              <UptimeFact window={spans[name]} />
              <LatencyNote latency={node.latency[name]} />
            </dd>
          </div>
        ))}
      </dl>
      <Checks checks={node.checks} open={node.failing_checks.length > 0} />
    </article>
  );
}

function Lines({ nodes }: { readonly nodes: readonly NodeStatus[] }) {
  return (
    <Table
      caption="More nodes"
      columns={[...columns, ...(nodes.some(hasProblem) ? [why] : [])]}
      rows={nodes}
      empty=""
    />
  );
}

const columns: readonly TableColumn<NodeStatus>[] = [
  { name: 'Node', kind: 'name', cell: ({ node }) => <NodeLink node={node} /> },
  { name: 'State', cell: (node) => <NodeStateBadge node={node} /> },
  { name: `The last ${STATUS_DAYS} days`, kind: 'bars', cell: (node) => <Days node={node} /> },
  ...spanNames.map(
    (name, at): TableColumn<NodeStatus> => ({
      name: `Uptime, ${name}`,
      head: (
        <>
          <span class={at === 0 ? undefined : 'unseen'}>Uptime, </span>
          {name}
        </>
      ),
      kind: 'number',
      cell: ({ spans }) => <UptimeFact window={spans[name]} />,
    }),
  ),
];

const why: TableColumn<NodeStatus> = {
  name: 'Reason',
  kind: 'wide',
  cell: ({ state, error, failing_checks }) => (state !== 'up' && error) || failing_checks.join(', '),
};

function NodeLink({ node }: { readonly node: string }) {
  return <a href={useContext(CurrentLinks).node(node)}>{node}</a>;
}

/** The last days of a node as bars, each with a link to its day. */
function Days({ node: { node, days } }: { readonly node: NodeStatus }) {
  const links = useContext(CurrentLinks);
  return (
    <StateBars
      windows={days}
      label={`The last ${STATUS_DAYS} days of ${node}: ${summaryWords(days)}.`}
      href={(window) => finer(links, node, window)}
    />
  );
}
