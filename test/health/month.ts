import type postgres from 'postgres';
import { expect } from 'vitest';
import { replayRules } from '../../src/alerts/replay.ts';
import { findRule, noFacts } from '../support/alerts.ts';
import { type Account, computeAccount, STATES } from './month-account.ts';
import { expectedAlerts, formatAlert } from './month-alerts.ts';
import { gatherCauses } from './month-causes.ts';
import { OTHER_ID, type PlayedMonth, playMonth } from './month-play.ts';
import { createMonthScript, MONTH_START, NODES, type NodeName } from './month-script.ts';
import { second } from './world.ts';

/** A comparison of the month with its expected intervals. */
export interface MonthSettings {
  /** Part of each day that is played. */
  readonly part: number;
  /** Number of random windows whose sums are compared. */
  readonly windows: number;
  /** Interval of the rounds of alerts, in seconds, and the part of the month that has them. */
  readonly round: number;
  readonly alerts: number;
}

type Accounts = ReadonlyMap<NodeName, Account>;

/**
 * Plays the month with every cause of the table of responses, and compares the ledger, its sums and its alerts with the
 * expected ones.
 */
export async function compareMonth(sql: postgres.Sql, settings: MonthSettings): Promise<void> {
  const causes = await gatherCauses();
  const script = createMonthScript(settings.part, causes.causes.length);
  const month = await playMonth(sql, script, causes);
  const names = [...causes.causes, ...causes.cutOff].map(({ name }) => name);
  expect(names.filter((name) => !month.foundCauses.has(name))).toEqual([]);
  const accounts = new Map(NODES.map((node) => [node, computeAccount(month, script, node)]));
  for (const { states } of accounts.values())
    for (const state of STATES.keys()) expect(states.includes(state), STATES[state]).toBe(true);
  for (const [node, { states }] of accounts) await compareSeconds(sql, node, states);
  await compareOther(sql, month);
  await compareWindows(sql, accounts, settings.windows, script.random);
  const alerts = await compareAlerts(sql, accounts, settings);
  console.log(
    `${names.length} causes, ${month.observations.length} probes, ${settings.windows} windows, ${alerts} alerts, ${month.identityChecks} checks of the identity alert`,
  );
}

async function compareSeconds(sql: postgres.Sql, node: NodeName, expected: Uint8Array): Promise<void> {
  const recorded = new Uint8Array(expected.length);
  const parts = await sql<{ state: string; from: number; to: number }[]>`
    select state, extract(epoch from started_at)::float8 - ${MONTH_START / second} as from,
      extract(epoch from ended_at)::float8 - ${MONTH_START / second} as to
    from reporting_internal.node_states where observer = 'month' and node = ${node} order by started_at`;
  parts.forEach(({ state, from, to }, n) => {
    expect([from % 1, to % 1], `${node} at ${from}`).toEqual([0, 0]);
    expect(from).toBeGreaterThanOrEqual(parts[n - 1]?.to ?? 0);
    recorded.fill(STATES.indexOf(state), from, to);
  });
  const differences: string[] = [];
  expected.forEach((state, at) => {
    if (recorded[at] !== state)
      differences.push(
        `${node} ${new Date(MONTH_START + at * second).toISOString()} is ${STATES[recorded[at] ?? 0]}, not ${STATES[state]}`,
      );
  });
  expect([differences.length, ...differences.slice(0, 5)]).toEqual([0]);
}

/** The other node is recorded under its own id while it responds. */
async function compareOther(sql: postgres.Sql, { observations }: PlayedMonth): Promise<void> {
  const own = observations.filter(({ node }) => node === 'c');
  const expected = own.flatMap(({ at, isOther }, n) =>
    isOther && !own[n - 1]?.isOther
      ? [['up', at, own.slice(n).find((observation) => !observation.isOther)?.at]]
      : [],
  );
  const rows = await sql<{ state: string; from: Date; to: Date }[]>`
    select state, started_at as from, ended_at as to from recorder.node_health
    where observer = 'month' and node = ${OTHER_ID} and check_name = '*' order by started_at`;
  expect(rows.map(({ state, from, to }) => [state, from.getTime(), to?.getTime()])).toEqual(expected);
  expect(expected.length).toBeGreaterThan(1);
}

/** Compares the sums of random windows, most of them short, to the millisecond, with sums over the seconds. */
async function compareWindows(
  sql: postgres.Sql,
  accounts: Accounts,
  count: number,
  random: () => number,
): Promise<void> {
  const sums = new Map(
    [...accounts].map(([node, { states }]) => [
      node,
      [1, 2, 3].map((state) => cumulativeSeconds(states, state)),
    ]),
  );
  const length = (accounts.get('a')?.states.length ?? 0) * second;
  const windows = Array.from({ length: count }, () => {
    const from = Math.floor((random() * 1.04 - 0.02) * length);
    return [from, from + 1 + Math.floor(random() ** 3 * length)] as const;
  });
  // As autovacuum does in a recorder's database.
  await sql`analyze recorder.node_health, recorder.health_absences, recorder.health_observers, recorder.health_probes`;
  const uptimes = await sql<
    { n: number; node: NodeName; up: number; down: number; maintenance: number; exact: boolean }[]
  >`
    select w.n::int, u.node, u.up_seconds::float8 * 1000 as up, u.down_seconds::float8 * 1000 as down,
      u.maintenance_seconds::float8 * 1000 as maintenance,
      u.up_seconds + u.down_seconds + u.maintenance_seconds + u.unknown_seconds = extract(epoch from u.until - u.since)
        and u.unknown_seconds >= 0 as exact
    from (select ordinality - 1 as n, (pair ->> 0)::bigint as "from", (pair ->> 1)::bigint as "to"
      from jsonb_array_elements(${JSON.stringify(windows)}::text::jsonb) with ordinality as p(pair, ordinality)) w
    cross join lateral reporting.node_uptime(to_timestamp(${MONTH_START / 1000} + w."from" / 1000.0), to_timestamp(${MONTH_START / 1000} + w."to" / 1000.0)) u
    where u.observer = 'month' and u.node = any(${[...NODES]})`;
  // A window that ends before the first probe has no row.
  expect(uptimes.length).toBeGreaterThan(count * 3 * 0.99);
  const mismatches = uptimes.filter(({ n, node, up, down, maintenance, exact }) => {
    const [from, to] = windows[n] ?? [0, 0];
    const expected = sums.get(node)?.map((sum) => sumUntil(sum, to) - sumUntil(sum, from));
    return (
      !exact ||
      [up, down, maintenance].some((value, state) => Math.abs(value - (expected?.[state] ?? -1)) > 0.001)
    );
  });
  expect(mismatches.slice(0, 3)).toEqual([]);
}

/** Seconds in a state before each second. */
function cumulativeSeconds(states: Uint8Array, state: number): Float64Array {
  const sums = new Float64Array(states.length + 1);
  states.forEach((one, n) => {
    sums[n + 1] = (sums[n] ?? 0) + (one === state ? 1 : 0);
  });
  return sums;
}

/** Milliseconds in a state before a moment, in ms since the start. */
function sumUntil(sums: Float64Array, moment: number): number {
  const at = Math.min(Math.max(moment / second, 0), sums.length - 1);
  const [previous, next] = [sums[Math.floor(at)] ?? 0, sums[Math.ceil(at)] ?? 0];
  return (previous + (next - previous) * (at % 1)) * second;
}

/** Replays the default rules and compares their alerts with the expected ones. Returns the number of alerts. */
async function compareAlerts(
  sql: postgres.Sql,
  accounts: Accounts,
  { round, alerts }: MonthSettings,
): Promise<number> {
  const length = accounts.get('a')?.states.length ?? 0;
  const rounds = { from: 600, to: Math.floor((length * alerts) / round) * round - 600, step: round };
  const rules = ['node-down', 'node-unobserved'].map(findRule);
  const replayed = await replayRules(
    { reader: sql, rules, facts: { ...noFacts, nodes: NODES } },
    { from: MONTH_START + rounds.from * second, to: MONTH_START + rounds.to * second, step: round * second },
    new AbortController().signal,
  );
  expect(replayed.left).toEqual([]);
  const secondOf = (moment: Date) => (moment.getTime() - MONTH_START) / second;
  const recorded = replayed.alerts.flatMap(({ rule, subject, firedAt, resolvedAt }) =>
    firedAt && (rule === 'node-down' || rule === 'node-unobserved')
      ? [
          formatAlert(
            subject,
            { rule, firedAt: secondOf(firedAt), resolvedAt: resolvedAt && secondOf(resolvedAt) },
            MONTH_START,
          ),
        ]
      : [],
  );
  const expected = [...accounts].flatMap(([node, account]) =>
    expectedAlerts(account, rounds).map((alert) => formatAlert(node, alert, MONTH_START)),
  );
  expect(recorded.sort()).toEqual(expected.sort());
  for (const { name } of rules)
    expect(
      expected.some((line) => line.startsWith(name)),
      `an alert of ${name}`,
    ).toBe(true);
  return expected.length;
}
