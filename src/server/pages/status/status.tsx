import { useContext } from 'preact/hooks';
import { z } from 'zod';
import type { MaintenanceAhead } from '../../../reporting/reports/nodes/maintenance-ahead.ts';
import type { SealHead } from '../../../reporting/reports/nodes/node-record.ts';
import {
  type NodeStatus,
  type NodesStatus,
  STATUS_DAYS,
} from '../../../reporting/reports/nodes/nodes-status.ts';
import type { StatusSite } from '../../status-site.ts';
import { type Content, definePage } from '../page.ts';
import { KeyValues } from '../parts/key-values.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Empty, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { countText } from '../texts.ts';
import { CurrentLinks } from './links.ts';
import { ListedNodes } from './listed-nodes.tsx';
import { Incidents, StalledLedgersWarning } from './node-parts.tsx';
import { Legend, StatePatterns } from './state-bars.tsx';

/** Refresh interval of the page, in s. */
const REFRESH_SECONDS = 30;

/** `/status`: current and past states of the nodes. The page can be public. */
export const statusPage = definePage({
  path: '/status',
  params: z.strictObject({}),
  read: async ({ nodes, site }) => ({ nodes: await nodes(), site }),
  content: ({ nodes, site }) => ({ ...statusContent(nodes, site), live: REFRESH_SECONDS }),
});

export function statusContent(status: NodesStatus, site: StatusSite): Content {
  return {
    title: site.title,
    site,
    body: (
      <>
        <StatePatterns />
        <Verdict status={status} site={site} />
        <section aria-labelledby="nodes">
          <div class="head">
            <h2 id="nodes">Nodes</h2>
            <Legend />
          </div>
          <ListedNodes nodes={status.nodes} />
        </section>
        <section aria-labelledby="maintenance">
          <h2 id="maintenance">Announced maintenance</h2>
          <Maintenance windows={status.maintenance} now={status.at} />
        </section>
        <section aria-labelledby="incidents">
          <h2 id="incidents">Incidents</h2>
          <Incidents
            incidents={status.incidents}
            named
            empty={`No incidents in the last ${STATUS_DAYS} days.`}
          />
        </section>
        <section aria-labelledby="proof">
          <h2 id="proof">Verification</h2>
          <Seal seal={status.seal} />
        </section>
      </>
    ),
  };
}

function Verdict({
  status: { nodes, stalledLedgers },
  site,
}: {
  readonly status: NodesStatus;
  readonly site: StatusSite;
}) {
  const [tone, words] = verdictOf(nodes);
  return (
    <div class="stack">
      <h1>{site.title}</h1>
      {site.text.map((paragraph) => (
        <p>{paragraph}</p>
      ))}
      <StalledLedgersWarning ledgers={stalledLedgers} />
      <p class={`verdict ${tone}`}>{words}</p>
    </div>
  );
}

/**
 * Summarizes the state of all nodes in one sentence about the worst state. Unknown states and missing records
 * never count as good.
 */
function verdictOf(nodes: readonly NodeStatus[]): readonly [tone: string, words: string] {
  const count = (...states: readonly NodeStatus['state'][]) =>
    nodes.filter(({ state }) => states.includes(state)).length;
  const of = (some: number, what: string) =>
    some === nodes.length
      ? `${some === 1 ? 'The node is' : `All ${some} nodes are`} ${what}`
      : `${some} of ${countText(nodes.length, 'node')} ${some === 1 ? 'is' : 'are'} ${what}`;
  if (nodes.length === 0) return ['idle', 'No nodes are watched'];
  const [down, unknown, maintenance] = [count('down'), count('unknown', 'unrecorded'), count('maintenance')];
  if (down > 0) return ['bad', of(down, 'down')];
  if (unknown > 0) return ['idle', of(unknown, 'unknown')];
  if (maintenance > 0) return ['planned', of(maintenance, 'under announced maintenance')];
  return ['good', of(nodes.length, 'up')];
}

/** The newest seal of the record, with instructions to verify it. */
function Seal({ seal }: { readonly seal: SealHead | null }) {
  if (!seal) return <Empty>The recorded data is not sealed yet. A seal is made once a day.</Empty>;
  return (
    <>
      <p>
        The data of this page until <Time at={seal.sealed_until} exact /> is sealed: each seal is a hash over
        all recorded data and the previous seal. Store the head elsewhere: with it,{' '}
        <code>chain-recorder verify</code> detects any later change in a copy of the record.
      </p>
      <KeyValues
        of={[
          ['Seal', `${seal.seal}${seal.signed ? ', signed' : ''}`],
          ['Sealed until', <Time at={seal.sealed_until} exact />],
          ['Head (sha-256)', <code>{seal.head}</code>],
          ['Head of node_health', seal.ledger_head === null ? null : <code>{seal.ledger_head}</code>],
        ]}
      />
    </>
  );
}

/**
 * Table of the current and future announced maintenance.
 * @param now ms since 1970
 */
function Maintenance({
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
                  <span>
                    {at > 0 && ', '}
                    <a href={links.node(node)}>{node}</a>
                  </span>
                )),
        },
        {
          name: 'State',
          cell: ({ from }) => (
            <StateBadge is="maintenance">{from.getTime() <= now ? 'continues' : 'announced'}</StateBadge>
          ),
        },
        { name: 'From', cell: ({ from }) => <Time at={from} exact /> },
        { name: 'To', cell: ({ to }) => <Time at={to} exact /> },
        { name: 'Reason', kind: 'wide', cell: ({ reason }) => reason ?? '' },
      ]}
      rows={windows}
      empty="No maintenance is announced."
    />
  );
}
