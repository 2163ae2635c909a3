import type postgres from 'postgres';
import type { AnnouncedMaintenance } from '../../../health/announcements.ts';
import { groupBy } from '../../../lib/group-by.ts';
import { type MaintenanceAhead, maintenanceAhead } from './maintenance-ahead.ts';
import {
  incidentsIn,
  type Latency,
  latencies,
  type NodeCheck,
  type NodeIncidents,
  readNodeChecks,
  type SealHead,
  sealHead,
  stateSpans,
} from './node-record.ts';
import { readStalledLedgers, type StalledLedger, type WatchedNode, watchedNodes } from './watched-nodes.ts';
import { splitIntoWindows, statesIn, type WindowStates } from './windows.ts';

/** The data of a node on the status page. */
export interface NodeStatus extends WatchedNode {
  /** The last 90 days (UTC), oldest first; the last day is incomplete. */
  readonly days: readonly WindowStates[];
  /** The states over each of {@link spans}, up to now. */
  readonly spans: Readonly<Record<SpanName, WindowStates>>;
  /** The response times over each of {@link spans}; null: no probe was counted. */
  readonly latency: Readonly<Record<SpanName, Latency | null>>;
  readonly checks: readonly NodeCheck[];
}

export interface NodesStatus {
  /** The time of the query, in ms since 1970. */
  readonly at: number;
  readonly nodes: readonly NodeStatus[];
  readonly stalledLedgers: readonly StalledLedger[];
  /** Incidents of the last 90 days. */
  readonly incidents: NodeIncidents;
  readonly maintenance: readonly MaintenanceAhead[];
  readonly seal: SealHead | null;
}

const DAY = 86_400_000;
export const STATUS_DAYS = 90;
/** The ranges for which uptimes are shown, in days. */
export const spans = { '24 h': 1, '7 days': 7, '30 days': 30, '90 days': 90 } as const;
export type SpanName = keyof typeof spans;
export const spanNames = ['24 h', '7 days', '30 days', '90 days'] as const satisfies readonly SpanName[];

/** Returns a record with a value for each of {@link spans}. */
const bySpan = <T>(of: (name: SpanName) => T): Readonly<Record<SpanName, T>> => ({
  '24 h': of('24 h'),
  '7 days': of('7 days'),
  '30 days': of('30 days'),
  '90 days': of('90 days'),
});

const MAX_INCIDENTS = 10;

/**
 * Reads the data of the status page. The cost of the queries depends on the ledger of 90 days, not on the
 * number of probes.
 * @param nodes the configured nodes
 * @param announced the maintenance in the configuration
 * @param now in ms since 1970
 */
export async function nodesStatus(
  sql: postgres.Sql,
  { nodes, announced }: { readonly nodes: readonly string[]; readonly announced: AnnouncedMaintenance },
  now: number,
): Promise<NodesStatus> {
  const past = { from: now - STATUS_DAYS * DAY, to: now };
  const stalledLedgers = await readStalledLedgers(sql);
  const watched = await watchedNodes(sql, nodes, stalledLedgers, now);
  const states = await stateSpans(sql, past, null);
  const spanOf = (name: SpanName) => ({ from: now - spans[name] * DAY, to: now });
  const latency = await latencies(sql, spanNames.map(spanOf), null, now);
  const checks = groupBy(await readNodeChecks(sql, null), ({ node }) => node);
  const today = now - (now % DAY);
  const days = splitIntoWindows({ from: today - (STATUS_DAYS - 1) * DAY, to: now }, '1d');
  return {
    at: now,
    nodes: watched.map((one) => {
      const known = states.get(one.node) ?? [];
      const firstProbeAt = one.first_probe_at?.getTime() ?? null;
      const over = (name: SpanName) => {
        const [whole] = statesIn(known, [spanOf(name)], firstProbeAt);
        if (!whole) throw new Error('the query for the states of a node returned no window');
        return whole;
      };
      // Days and spans are computed on access, because not all nodes of a long list are shown.
      let knownSpans: NodeStatus['spans'] | undefined;
      return {
        ...one,
        get days() {
          return statesIn(known, days, firstProbeAt);
        },
        get spans() {
          knownSpans ??= bySpan(over);
          return knownSpans;
        },
        latency: bySpan((name) => latency[spanNames.indexOf(name)]?.get(one.node) ?? null),
        checks: checks.get(one.node) ?? [],
      };
    }),
    stalledLedgers,
    incidents: await incidentsIn(
      sql,
      past,
      watched.map(({ node }) => node),
      MAX_INCIDENTS,
    ),
    maintenance: await maintenanceAhead(sql, announced, now),
    seal: await sealHead(sql),
  };
}
