import { useContext } from 'preact/hooks';
import type {
  Latency,
  NodeCheck,
  NodeIncident,
  NodeIncidents,
} from '../../../reporting/reports/nodes/node-record.ts';
import type { NodeStatus, SpanName } from '../../../reporting/reports/nodes/nodes-status.ts';
import type { StalledLedger, WatchedNode } from '../../../reporting/reports/nodes/watched-nodes.ts';
import type { Span } from '../../../reporting/reports/nodes/windows.ts';
import {
  achievedText,
  lastedText,
  type ObservedUptime,
  percentText,
  spanText,
} from '../../../reporting/reports/uptime.ts';
import { ErrorNotice } from '../parts/problem.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Empty, Table, type TableColumn } from '../parts/table.tsx';
import { Lasting, Time } from '../parts/time.tsx';
import { countText, momentText, numberText } from '../texts.ts';
import { CurrentLinks } from './links.ts';
import { boundsText, uptimeText, windowText } from './state-texts.ts';

export function NodeStateBadge({ node }: { readonly node: Pick<NodeStatus, 'state' | 'since'> }) {
  if (node.state === 'unrecorded') return <StateBadge is="unknown">no record yet</StateBadge>;
  return (
    <span>
      <StateBadge is={node.state} />{' '}
      {node.since && (
        <span class="soft">
          <Lasting since={node.since} />
        </span>
      )}
    </span>
  );
}

/**
 * An uptime, with bounds if the state is unknown for some of the time, and with the start of the record if
 * the record starts within the range.
 */
export function UptimeFact({ window }: { readonly window: NodeStatus['spans'][SpanName] }) {
  const bounds = boundsText(window);
  return (
    <>
      {uptimeText(window)}
      {bounds !== null && <small class="soft bounds">{bounds}</small>}
      {window.unrecorded > 0 && window.unrecorded * 1000 < window.to - window.from && (
        <small class="soft bounds">
          since <Time at={new Date(window.from + window.unrecorded * 1000)} exact />
        </small>
      )}
    </>
  );
}

/**
 * Response times of a range, as an item of a list of facts. The item contains the range if it differs from
 * the requested range.
 */
export function LatencyFact({
  latency,
  params,
}: {
  readonly latency: Latency | null;
  readonly params: Span;
}) {
  const exact = latency?.over.from === params.from && latency.over.to === params.to;
  return (
    <div>
      <dt>Response p50 / p95 / p99</dt>
      <dd>
        {latency === null
          ? 'no record'
          : `${[latency.p50, latency.p95, latency.p99].map(millisecondsText).join(' / ')} ms`}
        {latency !== null && !exact && <small class="soft bounds">{windowText(latency.over)}</small>}
      </dd>
    </div>
  );
}

/** Response times below another fact of the same range. */
export function LatencyNote({ latency }: { readonly latency: Latency | null }) {
  if (latency === null) return null;
  const { p50, p95, p99 } = latency;
  return (
    <small class="soft bounds" title="Response times: median, 95th and 99th percentile">
      response p50 {millisecondsText(p50)}, p95 {millisecondsText(p95)}, p99 {millisecondsText(p99)} ms
    </small>
  );
}

/**
 * Formats a response time with at least three digits. More digits would be inaccurate, because stored times
 * differ from the measured times by up to 5 %.
 */
const millisecondsText = (time: number) => (time < 100 ? time.toPrecision(3) : String(Math.round(time)));

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

/**
 * Incidents, each with the messages of the node.
 * @param named whether each incident contains the name of its node
 */
export function Incidents({
  incidents: { newest, count },
  named,
  empty,
}: {
  readonly incidents: NodeIncidents;
  readonly named: boolean;
  readonly empty: string;
}) {
  const links = useContext(CurrentLinks);
  if (count === 0) return <Empty>{empty}</Empty>;
  return (
    <>
      <ol class="incidents">
        {newest.map((incident) => (
          <li>
            <p class="head">
              <span>
                {incident.ended_at === null ? (
                  <StateBadge is="down">ongoing</StateBadge>
                ) : (
                  <StateBadge is="resolved">resolved</StateBadge>
                )}{' '}
                {named && <a href={links.node(incident.node)}>{incident.node}</a>}
              </span>
              <span class="soft">
                <Time at={incident.started_at} exact /> {incident.ended_at === null ? 'ongoing for ' : 'for '}
                {lastedText(incident)}
              </span>
            </p>
            <CheckMessages incident={incident} />
          </li>
        ))}
      </ol>
      {count > newest.length && (
        <p class="soft">
          Only the newest {newest.length} of {numberText(count)} incidents are shown.
        </p>
      )}
    </>
  );
}

/** The messages of the node by check, or the messages of the whole probe if no check failed. */
function CheckMessages({
  incident: { checks, first_error, last_error, noticed_by },
}: {
  readonly incident: NodeIncident;
}) {
  const checkEntries = Object.entries(checks).sort();
  return (
    <>
      <ul class="words">
        {checkEntries.length === 0 && (
          <li>
            <ErrorMessages first={first_error} last={last_error} />
          </li>
        )}
        {checkEntries.map(([check, { first_error: first, last_error: last }]) => (
          <li>
            <code>{check}</code> <ErrorMessages first={first} last={last} />
          </li>
        ))}
      </ul>
      {noticed_by.length > 1 && <p class="soft">Observed by {noticed_by.join(', ')}.</p>}
    </>
  );
}

function ErrorMessages({ first, last }: { readonly first: string | null; readonly last: string | null }) {
  if (first === null) return <span class="soft">no error message</span>;
  return (
    <>
      <q>{first}</q>
      {last !== null && last !== first && (
        <>
          , last: <q>{last}</q>
        </>
      )}
    </>
  );
}

/** The warning that ledgers are stalled; empty if no ledger is stalled. */
export function StalledLedgersWarning({ ledgers }: { readonly ledgers: readonly StalledLedger[] }) {
  if (ledgers.length === 0) return null;
  return (
    <ErrorNotice
      what="The uptime ledger is stalled: later states are unknown."
      details={ledgers.map(
        ({ subject, since, reason }) =>
          `${subject}${since ? `, since ${momentText(since)} UTC` : ''}: ${reason}`,
      )}
    />
  );
}

/** Maximum number of linked nodes. Each link takes 70 bytes or more. */
const MAX_LINKED_NODES = 1_000;

/**
 * The nodes that a page does not list, by state. The first {@link MAX_LINKED_NODES} have links to their
 * pages.
 */
export function NotListed({ nodes }: { readonly nodes: readonly Pick<WatchedNode, 'node' | 'state'>[] }) {
  const links = useContext(CurrentLinks);
  const states = new Map<WatchedNode['state'], { count: number; linked: string[] }>();
  for (const [at, { node, state }] of nodes.entries()) {
    const known = states.get(state) ?? { count: 0, linked: [] };
    states.set(state, known);
    known.count += 1;
    if (at < MAX_LINKED_NODES) known.linked.push(node);
  }
  return (
    <details id="not-listed">
      <summary>{`${countText(nodes.length, 'more node')}: ${[...states]
        .map(([state, { count }]) => `${numberText(count)} ${wordsOf(state)}`)
        .join(', ')}`}</summary>
      {[...states].map(([state, { count, linked }]) => (
        <p>
          {`${wordsOf(state)}: `}
          {linked.map((name) => (
            <>
              <a href={links.node(name)}>{name}</a>{' '}
            </>
          ))}
          {count > linked.length &&
            `${linked.length > 0 ? 'and ' : ''}${numberText(count - linked.length)} without a link: open the page of a node by its name`}
        </p>
      ))}
    </details>
  );
}

const wordsOf = (state: WatchedNode['state']) => (state === 'unrecorded' ? 'no record yet' : state);

const observedColumns: readonly TableColumn<ObservedUptime>[] = [
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

/** The uptime of a node by probe and observer, since the first probe of the observer. */
export function UptimeByObserver({ observed }: { readonly observed: readonly ObservedUptime[] }) {
  return (
    <Table
      caption="By probe and observer"
      columns={observedColumns}
      rows={observed}
      empty="The node has not been probed yet."
    />
  );
}
