import { useContext } from 'preact/hooks';
import { z } from 'zod';
import {
  type NodeRange,
  nodeRange,
  type ProbeResults,
  readFirstProbe,
} from '../../../reporting/reports/nodes/node-range.ts';
import { HEALTH } from '../../../reporting/reports/nodes/node-record.ts';
import type { NodeStatus, NodesStatus } from '../../../reporting/reports/nodes/nodes-status.ts';
import type { WindowStates } from '../../../reporting/reports/nodes/windows.ts';
import { spanText } from '../../../reporting/reports/uptime.ts';
import type { StatusSite } from '../../status-site.ts';
import { chartLink } from '../charts/link.ts';
import { type Content, definePage } from '../page.ts';
import { Calendar as Days, type FieldPlace } from '../parts/calendar.tsx';
import { StateBadge } from '../parts/state.tsx';
import { Table, type TableColumn } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { countText, numberText } from '../texts.ts';
import { CurrentView } from '../view.ts';
import { CurrentLinks, finer } from './links.ts';
import {
  Checks,
  Incidents,
  LatencyFact,
  NodeStateBadge,
  StalledLedgersWarning,
  UptimeByObserver,
  UptimeFact,
} from './node-parts.tsx';
import { parseRange, RangeChoice, type RequestedRange, rangeParameters } from './requested-range.tsx';
import { Legend, StateBar, StateBars, StatePatterns } from './state-bars.tsx';
import { stateWords, summaryWords, uptimeText, windowText } from './state-texts.ts';

export interface NodeRecord {
  readonly range: NodeRange;
  readonly params: RequestedRange;
  readonly status: NodesStatus;
  /** Current state of the node; null if the node is no longer watched. */
  readonly now: NodeStatus | null;
  readonly site: StatusSite;
}

/** Minimum number of days that are displayed as a calendar instead of bars. */
const MIN_CALENDAR_DAYS = 100;

/** `/status/NODE`: the record of a node over any range. */
export const nodeStatusPage = definePage({
  path: '/status/:node',
  params: z.strictObject({ ...rangeParameters, node: z.string() }),
  read: async ({ nodes, site, read, clock }, { node, ...parameters }): Promise<NodeRecord | null> => {
    if (node.includes('\0')) return null; // PostgreSQL does not accept NUL
    const status = await nodes();
    const now = status.nodes.find((one) => one.node === node) ?? null;
    return read(async (sql) => {
      const firstProbeAt = await readFirstProbe(sql, node);
      if (!firstProbeAt && !now) return null;
      const moment = clock();
      const params = parseRange(parameters, moment, firstProbeAt?.getTime() ?? null);
      const range = await nodeRange(sql, node, params, params.grain, firstProbeAt, moment);
      return { range, params, status, now, site };
    });
  },
  content: (record) => nodeContent(record),
});

export function nodeContent({ range, params, status, now, site }: NodeRecord): Content {
  const { node, whole, windows, grain } = range;
  const summary = `${node}, ${windowText(range)}: ${summaryWords(windows)}.`;
  return {
    title: `${node} · ${site.title}`,
    site,
    body: (
      <>
        <StatePatterns />
        <div class="stack">
          <div class="head">
            <h1>{node}</h1>
            {now ? <NodeStateBadge node={now} /> : <StateBadge is="unknown">no longer watched</StateBadge>}
          </div>
          <StalledLedgersWarning ledgers={status.stalledLedgers} />
          {now?.error && now.state !== 'up' && (
            <p class="reason">
              <q>{now.error}</q>
            </p>
          )}
        </div>
        <RangeChoice params={params} node={node} firstProbeAt={range.first_probe_at} />
        <section aria-labelledby="range">
          <div class="head">
            <h2 id="range">{windowText(range)}</h2>
            <Legend />
          </div>
          {grain === '1d' && windows.length >= MIN_CALENDAR_DAYS ? (
            <Calendar node={node} windows={windows} label={summary} />
          ) : (
            <Bars record={range} label={summary} />
          )}
          <dl class="facts uptimes">
            <div>
              <dt>Uptime</dt>
              <dd>
                <UptimeFact window={whole} />
              </dd>
            </div>
            <LatencyFact latency={range.latency} params={range} />
            <div>
              <dt>Incidents</dt>
              <dd>{numberText(range.incidents.count)}</dd>
            </div>
          </dl>
          <LatencyChart node={node} params={params} />
          <Windows node={node} windows={windows} />
        </section>
        <section aria-labelledby="incidents">
          <h2 id="incidents">Incidents</h2>
          <Incidents incidents={range.incidents} named={false} empty="No incidents in this range." />
        </section>
        <section aria-labelledby="checks">
          <h2 id="checks">Current checks</h2>
          <Checks checks={now?.checks ?? []} open />
        </section>
        <section aria-labelledby="looks">
          <h2 id="looks">Probe results</h2>
          <ProbeResultsTable range={range} />
        </section>
        <section aria-labelledby="observed">
          <h2 id="observed">By observer</h2>
          <p class="soft">
            {countText(new Set(range.observed.map(({ observer }) => observer)).size, 'observer')} probed the
            node. With several observers, a node is down while most of them observe it as down.
          </p>
          <UptimeByObserver observed={range.observed} />
        </section>
      </>
    ),
  };
}

/** The link to the chart of response times of the range, for clients that may read charts. */
function LatencyChart({ node, params }: { readonly node: string; readonly params: RequestedRange }) {
  const { everything, file } = useContext(CurrentView);
  if (!everything || file) return null;
  const [from, to] = [new Date(params.from), new Date(params.to)];
  return (
    <p>
      <a href={chartLink({ of: 'node_latency_over_time', selected: { node, probe: HEALTH }, from, to })}>
        Response times over this range
      </a>
    </p>
  );
}

function Bars({ record, label }: { readonly record: NodeRange; readonly label: string }) {
  const links = useContext(CurrentLinks);
  return (
    <StateBars windows={record.windows} label={label} href={(window) => finer(links, record.node, window)} />
  );
}

/**
 * Days of a node as a calendar.
 * @param windows whole days, except for the first and the last window
 */
function Calendar({
  node,
  windows,
  label,
}: {
  readonly node: string;
  readonly windows: readonly WindowStates[];
  readonly label: string;
}) {
  const links = useContext(CurrentLinks);
  const days = windows.map((window) => ({
    at: window.from,
    href: finer(links, node, window),
    draw: (place: FieldPlace) => <StateBar of={window} title={stateWords(window)} {...place} />,
  }));
  return <Days days={days} label={label} />;
}

/** The windows of the bars as a table, the newest first. */
function Windows({ node, windows }: { readonly node: string; readonly windows: readonly WindowStates[] }) {
  const links = useContext(CurrentLinks);
  const seconds = (
    state: 'up' | 'down' | 'unknown' | 'maintenance' | 'unrecorded',
    name: string,
  ): TableColumn<WindowStates> => ({
    name,
    kind: 'number',
    cell: (window) => (window[state] > 0 ? spanText(window[state]) : '–'),
  });
  return (
    <details>
      <summary>Table of {countText(windows.length, 'interval')}</summary>
      <Table
        caption="States by interval"
        columns={[
          {
            name: 'Interval (UTC)',
            cell: (window) => {
              const to = finer(links, node, window);
              return to === null ? windowText(window) : <a href={to}>{windowText(window)}</a>;
            },
          },
          { name: 'Uptime', kind: 'number', cell: uptimeText },
          seconds('up', 'Up'),
          seconds('down', 'Down'),
          seconds('unknown', 'Unknown'),
          seconds('maintenance', 'Maintenance'),
          seconds('unrecorded', 'No record'),
        ]}
        rows={windows.toReversed()}
        empty=""
      />
    </details>
  );
}

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
function ProbeResultsTable({ range }: { readonly range: NodeRange }) {
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
