import type postgres from 'postgres';

/** Something that is not as it should be: one row of `reporting.findings`. */
export interface Finding {
  readonly state: FindingState;
  readonly what:
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

/** Findings that have state, kind and dataset in common, and the oldest of them. */
export interface FindingGroup extends Finding {
  readonly count: number;
}

/** Everything that the watchdog finds now, by state, kind and dataset: a bounded number, however many targets there are. */
export async function findingGroups(sql: postgres.Sql): Promise<FindingGroup[]> {
  const rows = await sql<FindingGroup[]>`
    select distinct on (state, what, dataset) state, what, dataset, subject, since, reason,
      (count(*) over (partition by state, what, dataset))::int as count
    from reporting.findings order by state, what, dataset, since, subject`;
  return [...rows].sort((a, b) => findingStates.indexOf(a.state) - findingStates.indexOf(b.state));
}

/** A finding in words. @param time how a moment is written; absent: ISO 8601 */
export function inWords(
  { state, what, dataset, subject, since, reason, count }: FindingGroup,
  time = (moment: Date) => moment.toISOString(),
): string {
  const whose =
    what === 'target'
      ? `${dataset} of ${subject}`
      : what === 'commits' ||
          what === 'seals' ||
          what === 'workers' ||
          what === 'alerts' ||
          what === 'changes'
        ? subject
        : `${what} ${subject}`;
  const others = count > 1 ? ` (and ${count - 1} more)` : '';
  return `${state} since ${time(since)}: ${whose}${others}: ${reason}`;
}
