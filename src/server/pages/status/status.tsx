import { useContext } from 'preact/hooks';
import { z } from 'zod';
import {
  DAYS,
  type NodeStatus,
  type NodesStatus,
  type SpanName,
  spanNames,
} from '../../../reports/nodes/nodes-status.ts';
import { byNeedOfLook } from '../../../reports/nodes/watched-nodes.ts';
import type { StatusSite } from '../../status-site.ts';
import { type Content, definePage } from '../page.ts';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { countText } from '../texts.ts';
import { Checks } from './checks.tsx';
import { Incidents } from './incidents.tsx';
import { LatencyNote } from './latency-fact.tsx';
import { CurrentLinks, finer } from './links.ts';
import { Maintenance } from './maintenance.tsx';
import { NotListed } from './not-listed.tsx';
import { Seal } from './seal.tsx';
import { Standing } from './standing.tsx';
import { Legend, StateBars, StatePatterns } from './state-bars.tsx';
import { boundsText, summaryWords, uptimeText } from './state-words.ts';

/** The most nodes that are told in full, 20 kB each; of more, those that want a look come first. */
const MOST = 200;
/** How often the page renews itself, s. */
const RENEWED = 30;

/** `/status`: how the nodes are and were, for everybody. */
export const status = definePage({
  path: '/status',
  asked: z.strictObject({}),
  read: async ({ nodes, site }) => ({ nodes: await nodes(), site }),
  content: ({ nodes, site }) => ({ ...statusContent(nodes, site), live: RENEWED }),
});

/** The status page of a moment. */
export function statusContent(told: NodesStatus, site: StatusSite): Content {
  const nodes = told.nodes.length > MOST ? byNeedOfLook(told.nodes) : told.nodes;
  return {
    title: site.title,
    site,
    body: (
      <>
        <StatePatterns />
        <Verdict told={told} site={site} />
        <section aria-labelledby="nodes">
          <div class="head">
            <h2 id="nodes">Nodes</h2>
            <Legend />
          </div>
          {told.nodes.length === 0 && <p class="empty">No node is watched.</p>}
          {nodes.slice(0, MOST).map((node) => (
            <Node node={node} key={node.node} />
          ))}
          {nodes.length > MOST && <NotListed nodes={nodes.slice(MOST)} />}
        </section>
        <section aria-labelledby="maintenance">
          <h2 id="maintenance">Announced maintenance</h2>
          <Maintenance windows={told.maintenance} now={told.at} />
        </section>
        <section aria-labelledby="incidents">
          <h2 id="incidents">Incidents</h2>
          <Incidents incidents={told.incidents} named empty={`No incident in ${DAYS} days.`} />
        </section>
        <section aria-labelledby="proof">
          <h2 id="proof">Proof</h2>
          <Seal seal={told.seal} />
        </section>
      </>
    ),
  };
}

function Verdict({
  told: { nodes, standing },
  site,
}: {
  readonly told: NodesStatus;
  readonly site: StatusSite;
}) {
  const [tone, words] = verdictOf(nodes);
  return (
    <div class="stack">
      <h1>{site.title}</h1>
      {site.text.map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
      <Standing ledgers={standing} />
      <p class={`verdict ${tone}`}>{words}</p>
    </div>
  );
}

/** One sentence over all nodes: the worst comes first, and what is not known is never good. */
function verdictOf(nodes: readonly NodeStatus[]): readonly [tone: string, words: string] {
  const count = (...states: readonly NodeStatus['state'][]) =>
    nodes.filter(({ state }) => states.includes(state)).length;
  const of = (some: number, what: string) =>
    some === nodes.length
      ? `${some === 1 ? 'The node is' : `All ${some} nodes are`} ${what}`
      : `${some} of ${countText(nodes.length, 'node')} ${some === 1 ? 'is' : 'are'} ${what}`;
  if (nodes.length === 0) return ['idle', 'No node is watched'];
  const [down, unknown, maintenance] = [count('down'), count('unknown', 'unrecorded'), count('maintenance')];
  if (down > 0) return ['bad', of(down, 'down')];
  if (unknown > 0) return ['idle', `${of(unknown, 'in a state that nobody knows')}`];
  if (maintenance > 0) return ['planned', of(maintenance, 'under announced maintenance')];
  return ['good', of(nodes.length, 'up')];
}

function Node({ node }: { readonly node: NodeStatus }) {
  const links = useContext(CurrentLinks);
  const { days, spans } = node; // each look at them works them out
  return (
    <article class="panel node">
      <div class="head">
        <h3>
          <a href={links.node(node.node)}>{node.node}</a>
        </h3>
        <NodeState node={node} />
      </div>
      {node.error !== null && node.state !== 'up' && (
        <p class="reason">
          <q>{node.error}</q>
        </p>
      )}
      <StateBars
        windows={days}
        label={`The last ${DAYS} days of ${node.node}: ${summaryWords(days)}.`}
        href={(window) => finer(links, node.node, window)}
      />
      <p class="axis soft" aria-hidden="true">
        <span>{DAYS} days ago</span>
        <span>today</span>
      </p>
      <dl class="facts uptimes">
        {spanNames.map((name) => (
          <div key={name}>
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

/** How a node is now, and since when. */
export function NodeState({ node }: { readonly node: Pick<NodeStatus, 'state' | 'since'> }) {
  if (node.state === 'unrecorded') return <State is="unknown">no record yet</State>;
  return (
    <span>
      <State is={node.state} />{' '}
      {node.since && (
        <span class="soft">
          since <Time at={node.since} />
        </span>
      )}
    </span>
  );
}

/** An uptime, with its bounds where some of the time is unknown, and how much of it is recorded at all. */
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
