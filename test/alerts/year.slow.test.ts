import { expect } from 'vitest';
import { replay } from '../../src/alerts/replay.ts';
import type { Alert } from '../../src/alerts/state.ts';
import { testAlerts } from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';

/** How many days of the year are scripted. All of them by hand: DAYS=365 npx vitest run test/alerts/year.slow.test.ts */
const DAYS = Number(process.env.DAYS ?? 16);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const start = Date.UTC(2025, 0, 1);
const end = start + DAYS * DAY;
const nodes = ['n1', 'n2', 'n3'];

const { it, database, sql } = withDatabase({ max: 2 });

/** A number from 0 to 1 that is the same in every run. */
let seed = 20_250_101;
function random(): number {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
}

interface Trouble {
  readonly node: string;
  readonly from: number;
  readonly to: number;
  /** What a person calls it. */
  readonly kind: 'outage' | 'blip' | 'flapping' | 'maintenance';
}

/** A year of three nodes: an outage a month each, a blip a week, a bad hour twice a year, and a Sunday's restart announced. */
function troubles(): Trouble[] {
  const all = nodes.flatMap((node) => {
    const some = (every: number, kind: Trouble['kind'], lasts: () => number) =>
      Array.from({ length: Math.ceil(DAYS / every) }, (_, at) => {
        const from = start + Math.floor((at + 0.1 + 0.8 * random()) * every * DAY);
        return { node, kind, from, to: from + Math.floor(lasts()) };
      });
    const bad = some(180, 'flapping', () => 3 * MINUTE).flatMap((one) =>
      Array.from({ length: 6 }, (_, at) => ({
        ...one,
        from: one.from + at * 8 * MINUTE,
        to: one.to + at * 8 * MINUTE,
      })),
    );
    return [
      ...some(30, 'outage', () => (5 + 180 * random() ** 3) * MINUTE),
      ...some(7, 'blip', () => (20 + 60 * random()) * 1_000),
      ...some(14, 'maintenance', () => 20 * MINUTE),
      ...bad,
    ];
  });
  const sorted = all.filter(({ to }) => to < end - HOUR).sort((one, other) => one.from - other.from);
  // One trouble at a time of a node.
  return sorted.filter(
    (one, at) =>
      !sorted.slice(0, at).some((other) => other.node === one.node && other.to + MINUTE >= one.from),
  );
}

async function writeLedger(all: readonly Trouble[]): Promise<void> {
  await sql`insert into recorder.health_observers (observer, heartbeat_at) values ('o', ${new Date(end)})`;
  for (const node of nodes) {
    const target = { observer: 'o', node, probe: 'health' };
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values ('o', ${node}, 'health', 1, ${new Date(end)})`;
    await sql`insert into recorder.targets (source, target_key, target) values ('probes', ${node}, ${sql.json(target)})`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, wanted_at)
      values ('probes', ${node}, 'node_health', 60000, true, ${new Date(start)})`;
    let at = start;
    const parts: { from: number; to: number | null; state: string }[] = [];
    for (const one of all.filter((each) => each.node === node)) {
      parts.push({ from: at, to: one.from, state: 'up' });
      parts.push({ from: one.from, to: one.to, state: one.kind === 'maintenance' ? one.kind : 'down' });
      at = one.to;
    }
    parts.push({ from: at, to: null, state: 'up' });
    await sql`
      insert into recorder.node_health (observer, node, probe, check_name, state, error, started_at, ended_at, reported, probes)
      select 'o', ${node}, 'health', '*', p.state, case p.state when 'down' then 'it does not answer' end, to_timestamp(p.from / 1000.0),
        to_timestamp(p.to / 1000.0), p.state <> 'down', 1
      from jsonb_to_recordset(${sql.json(parts)}) p("from" float8, "to" float8, state text)`;
  }
}

it(`a network of three nodes over ${DAYS} days: what the default rules tell, and nothing that is an incident is left out`, async () => {
  const all = troubles();
  await writeLedger(all);
  const alerts = testAlerts(database.url, new ManualClock(end), {}, { facts: { nodes } });
  const rules = alerts.rules.filter(({ name }) => name.startsWith('node-'));
  expect(rules.map(({ name }) => name)).toEqual(expect.arrayContaining(['node-down', 'node-flapping']));
  // Between troubles that are hours apart nothing is open, and nothing is asked.
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to } of all) {
    const last = ranges.at(-1);
    if (last && from - 100 * MINUTE < last.to) last.to = Math.max(last.to, to + 100 * MINUTE);
    else ranges.push({ from: from - 5 * MINUTE, to: to + 100 * MINUTE });
  }
  const told: Alert[] = [];
  let messages = 0;
  for (const { from, to } of ranges) {
    const step = from < start ? { from: start, to } : { from, to };
    const said = await replay({ ...alerts, rules }, { ...step, step: MINUTE }, new AbortController().signal);
    expect(said.left).toEqual([]);
    told.push(...said.alerts);
    messages += said.messages;
  }
  await alerts.close();
  const kindOf = (alert: Alert) => {
    const at = alert.since?.getTime() ?? alert.beganAt.getTime();
    return (
      all.find(
        ({ node, from, to }) => alert.subject.includes(node) && at >= from - MINUTE && at <= to + 20 * MINUTE,
      )?.kind ?? 'nothing'
    );
  };
  const counts = new Map<string, number>();
  for (const one of told) {
    const key = `${one.rule} for ${kindOf(one)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const incidents = await sql<{ node: string; started_at: Date; ended_at: Date; seconds: number }[]>`
    select node, started_at, ended_at, duration_seconds::float8 as seconds from reporting.node_incidents where probe = 'health'`;
  const missed = incidents.filter(
    ({ node, started_at, ended_at, seconds }) =>
      seconds >= 3 * 60 &&
      !told.some(
        (one) =>
          one.subject.includes(node) &&
          // While a node comes and goes, one alert stands for all of its outages.
          (one.resolvedAt?.getTime() ?? Number.POSITIVE_INFINITY) >= started_at.getTime() &&
          (one.firedAt?.getTime() ?? 0) <= ended_at.getTime() + 10 * MINUTE,
      ),
  );
  const ofScript = (kind: Trouble['kind']) => all.filter((one) => one.kind === kind).length;
  console.log(
    JSON.stringify({
      script: Object.fromEntries(
        (['outage', 'blip', 'flapping', 'maintenance'] as const).map((kind) => [kind, ofScript(kind)]),
      ),
      incidents: incidents.length,
      told: told.length,
      messages,
      byKind: Object.fromEntries(counts),
    }),
  );
  expect(missed).toEqual([]);
  expect([...counts.keys()].filter((key) => /maintenance|nothing/.test(key))).toEqual([]);
}, 900_000);
