import type postgres from 'postgres';
import type { AlertRule, RuleFinding } from '../rule.ts';

const MINUTE = 60_000;
/** Reason why rules about findings do not support past moments. */
const ONLY_NOW = 'only the current findings are stored (reporting.findings)';

interface Row {
  readonly subject: string;
  readonly since: Date;
  readonly reason: string;
  readonly count: number;
  readonly example: string;
}

const common = { every: 30_000, onlyNow: ONLY_NOW };

/** Fires when a dataset has not been recorded for more than three of its intervals. */
export const datasetLate: AlertRule = {
  ...common,
  name: 'dataset-late',
  about: 'A dataset has not been recorded for more than three of its intervals.',
  severity: 'warning',
  for: 2 * MINUTE,
  dependsOn: ({ subject }) => [subject],
  evaluate: ({ sql }) => byDataset(sql, sql`f.state = 'late'`, 'is late'),
};

/** Fires when the runs of a dataset are incomplete. */
export const datasetIncomplete: AlertRule = {
  ...common,
  name: 'dataset-incomplete',
  about: 'A dataset is recorded, but each time something is missing.',
  severity: 'warning',
  for: 30 * MINUTE,
  dependsOn: ({ subject }) => [subject],
  evaluate: ({ sql }) =>
    byDataset(
      sql,
      sql`f.state = 'incomplete' and f.reason not like 'departures unconfirmed:%'`,
      'is incomplete',
    ),
};

/**
 * Fires when a list lost more than half of its members and no later observation has confirmed the loss yet.
 */
export const listUnconfirmed: AlertRule = {
  ...common,
  name: 'list-unconfirmed',
  about:
    'A list is suddenly empty or lost more than half of its members; the next observations must confirm it.',
  severity: 'warning',
  for: 0,
  dependsOn: ({ subject }) => [subject],
  evaluate: ({ sql }) =>
    byDataset(
      sql,
      sql`f.state = 'incomplete' and f.reason like 'departures unconfirmed:%'`,
      'lost most of its members',
    ),
};

/** Fires when the uptime ledger is stalled. */
export const ledgerStalled: AlertRule = {
  ...common,
  name: 'ledger-stalled',
  about: 'The uptime ledger is stalled: the state of nodes is unknown.',
  severity: 'critical',
  for: 0,
  // `ledger DATASET OBSERVER`, for a probe with its node and name.
  dependsOn: ({ subject }) => subject.split(' ').slice(1),
  evaluate: ({ sql }) => queryFindings(sql, sql`f.component = 'ledger' and f.state <> 'incomplete'`),
};

/** Fires when another part of the recording is stalled. */
export const recordingStalled: AlertRule = {
  ...common,
  name: 'recording-stalled',
  about:
    'A component of the recorder is stalled: workers, schedules, the queue, commits, seals, checks or packing.',
  severity: 'critical',
  for: 2 * MINUTE,
  evaluate: ({ sql }) =>
    queryFindings(
      sql,
      sql`f.component not in ('target', 'ledger', 'alerts', 'changes', 'export', 'replica', 'index-stalled', 'node')`,
    ),
};

/** Fires when the index of a service returns no new items for too long. */
export const indexStalled: AlertRule = {
  ...common,
  name: 'index-stalled',
  about: 'The index of a service has shown no new item for many times the usual interval of its items.',
  severity: 'warning',
  for: 10 * MINUTE,
  evaluate: ({ sql }) => queryFindings(sql, sql`f.component = 'index-stalled'`),
};

/** Fires when a configured URL belongs to another node, network, genesis or chain than before. */
export const sourceChanged: AlertRule = {
  ...common,
  name: 'source-changed',
  about:
    'A configured URL belongs to another node, network, genesis or chain than before. Its data is not recorded under the old name.',
  severity: 'critical',
  for: 0,
  // `node NAME`, or `target DATASET TARGET`.
  dependsOn: ({ subject }) => subject.split(' ').slice(1, 2),
  evaluate: ({ sql }) =>
    queryFindings(
      sql,
      sql`f.component = 'node' or (f.component = 'target' and f.reason like 'another chain%')`,
    ),
};

/** Fires when a rule cannot be evaluated, a channel accepts no messages, or a sink accepts no changes. */
export const alertingFailing: AlertRule = {
  ...common,
  name: 'alerting-failing',
  about: 'A rule cannot be evaluated, a channel accepts no messages, or a sink accepts no changes.',
  severity: 'warning',
  for: 5 * MINUTE,
  dependsOn: ({ subject }) => [withoutComponent(subject)],
  evaluate: ({ sql }) => queryFindings(sql, sql`f.component in ('alerts', 'changes')`),
};

/** Fires when a scheduled export fails or is late. */
export const exportFailing: AlertRule = {
  ...common,
  name: 'export-failing',
  about: 'A scheduled export fails or is late: its files are out of date.',
  severity: 'warning',
  for: 10 * MINUTE,
  dependsOn: ({ subject }) => [withoutComponent(subject)],
  evaluate: ({ sql }) => queryFindings(sql, sql`f.component = 'export'`),
};

/**
 * Fires when the replica for pages, reports and exports is unavailable, is not a copy of the primary, or lags
 * far behind.
 */
export const replicaBehind: AlertRule = {
  ...common,
  name: 'replica-behind',
  about:
    'The replica for pages, reports and exports is unavailable, is not a copy of the primary, or lags by more than a minute.',
  severity: 'warning',
  for: 5 * MINUTE,
  evaluate: ({ sql }) => queryFindings(sql, sql`f.component = 'replica'`),
};

/** Returns one result per dataset. A stalled ledger has a separate rule. */
async function byDataset(sql: postgres.Sql, which: postgres.Fragment, is: string): Promise<RuleFinding[]> {
  const rows = await sql<Row[]>`
    select f.dataset as subject, min(f.since) as since, count(*)::int as count,
      (array_agg(f.subject order by f.since, f.subject))[1] as example,
      (array_agg(f.reason order by f.since, f.subject))[1] as reason
    from reporting.findings f
    where (f.component = 'target' and f.dataset <> 'node_health' or f.component = 'ledger' and f.state = 'incomplete') and ${which}
    group by f.dataset order by f.dataset`;
  return rows.map(({ subject, since, reason, count, example }) => ({
    subject,
    summary: `${subject} ${is}: ${example}${count > 1 ? ` and ${count - 1} more` : ''}: ${reason}`,
    since,
    details: { targets: count, example },
  }));
}

/** Returns the subject of a finding without a dataset, such as `the channel ops`. */
const withoutComponent = (subject: string) => subject.slice(subject.indexOf(' ') + 1);

async function queryFindings(sql: postgres.Sql, which: postgres.Fragment): Promise<RuleFinding[]> {
  const rows = await sql<Row[]>`
    select concat_ws(' ', f.component, f.dataset, f.subject) as subject, min(f.since) as since, count(*)::int as count,
      (array_agg(f.reason order by f.since))[1] as reason, '' as example
    from reporting.findings f where ${which}
    group by 1 order by 1`;
  return rows.map(({ subject, since, reason }) => ({ subject, summary: `${subject}: ${reason}`, since }));
}
