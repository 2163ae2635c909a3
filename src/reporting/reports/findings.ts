import type postgres from 'postgres';

/** A problem of the recording or of a node: a row of `reporting.findings`. */
export interface Finding {
  readonly state: FindingState;
  readonly component:
    | 'target'
    | 'ledger'
    | 'schedule'
    | 'commits'
    | 'seals'
    | 'readings'
    | 'checks'
    | 'process'
    | 'workers'
    | 'server'
    | 'queue'
    | 'alerts'
    | 'export'
    | 'changes'
    | 'replica'
    | 'index-stalled'
    | 'retention'
    | 'node';
  readonly dataset: string | null;
  readonly subject: string;
  readonly since: Date;
  readonly reason: string;
}

export const findingStates = ['stalled', 'late', 'failing', 'outdated', 'incomplete'] as const;
export type FindingState = (typeof findingStates)[number];

/** Findings of the same state, kind and dataset, represented by the oldest of these findings. */
export interface FindingGroup extends Finding {
  readonly count: number;
}

/**
 * Returns the current findings of the watchdog, grouped by state, kind and dataset. The number of groups is
 * bounded, independent of the number of targets.
 */
export async function findingGroups(sql: postgres.Sql): Promise<FindingGroup[]> {
  const rows = await sql<FindingGroup[]>`
    select distinct on (state, component, dataset) state, component, dataset, subject, since, reason,
      (count(*) over (partition by state, component, dataset))::int as count
    from reporting.findings order by state, component, dataset, since, subject`;
  return rows.sort((a, b) => findingStates.indexOf(a.state) - findingStates.indexOf(b.state));
}

/** Components whose subject contains their name. */
const NAMED: ReadonlySet<string> = new Set(['commits', 'seals', 'workers', 'alerts', 'changes']);

/** Renders a finding as text. @param time formats a moment; default: ISO 8601 */
export function describeFinding(
  { state, component, dataset, subject, since, reason, count }: FindingGroup,
  time = (moment: Date) => moment.toISOString(),
): string {
  const whose =
    component === 'target'
      ? `${dataset} of ${subject}`
      : NAMED.has(component)
        ? subject
        : `${component} ${subject}`;
  const others = count > 1 ? ` (and ${count - 1} more)` : '';
  return `${state} since ${time(since)}: ${whose}${others}: ${reason}`;
}
