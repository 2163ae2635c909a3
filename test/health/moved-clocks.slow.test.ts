import { expect } from 'vitest';
import { withDatabase } from '../support/fixture.ts';
import { createRandom } from '../support/random.ts';
import { day, hour, type Life, minute, second, World } from './world.ts';

const start = Date.UTC(2026, 2, 1);
/** The script has the days of a month. A third of each keeps every part of it. */
const PART_OF_DAY = 1 / 3;
const length = 31 * day * PART_OF_DAY;
const end = start + length;
const nodes = ['a', 'b', 'c'];
const states = ['unknown', 'up', 'down', 'maintenance'];

const { it, sql } = withDatabase();

const random = createRandom(20_260_301);

/** When nodes fail, and for how long: some so short that no second probe finds it. */
function createEpisodes(): { node: string; from: number; to: number; life: Life }[] {
  const episodes = nodes.flatMap((node) =>
    Array.from({ length: 20 }, () => {
      const from = start + Math.floor((random() * length) / second) * second;
      const duration = Math.ceil(random() ** 4 * 4 * 3600) * second;
      return {
        node,
        from,
        to: from + duration,
        life: random() < 0.5 ? ('unhealthy' as const) : ('unresponsive' as const),
      };
    }),
  );
  return episodes.sort((one, other) => one.from - other.from);
}

const at = (date: number, hours: number, minutes = 0) =>
  start + ((date - 1) * day + hours * hour + minutes * minute) * PART_OF_DAY;

/** Events of the recorder, in order. */
const script: readonly {
  at: number;
  action: 'kill' | 'start' | 'sleep' | 'cut off' | 'reconnect' | 'move';
  by?: number;
  isPermanent?: boolean;
}[] = [
  { at: at(3, 10), action: 'kill' },
  { at: at(3, 15), action: 'start' },
  { at: at(5, 1, 7), action: 'sleep', by: 10 * minute },
  { at: at(6, 20), action: 'sleep', by: 8 * hour },
  { at: at(8, 4), action: 'cut off' },
  { at: at(8, 6, 30), action: 'reconnect' },
  { at: at(10, 12), action: 'move', by: 2 * hour },
  { at: at(10, 12) + 40 * second, action: 'move', by: -2 * hour },
  { at: at(12, 12), action: 'move', by: -2 * hour },
  { at: at(12, 12) + 40 * second, action: 'move', by: 2 * hour },
  { at: at(14, 9), action: 'move', by: 2 * hour, isPermanent: true },
  { at: at(14, 15), action: 'move', by: -2 * hour, isPermanent: true },
  { at: at(17, 9), action: 'move', by: -2 * hour, isPermanent: true },
  { at: at(17, 16), action: 'move', by: 2 * hour, isPermanent: true },
  { at: at(20, 0), action: 'kill' },
  { at: at(20, 0, 1), action: 'start' },
  { at: at(20, 0, 2), action: 'kill' },
  { at: at(20, 0, 3), action: 'start' },
  { at: at(23, 23), action: 'sleep', by: 3 * second },
  { at: at(26, 5), action: 'kill' },
  { at: at(27, 9), action: 'start' },
];

const windows = [
  { nodes: ['a'], from: at(4, 2), to: at(4, 5) },
  { nodes: ['b'], from: at(3, 12), to: at(3, 16) },
  { nodes: null, from: at(22, 1), to: at(22, 2) },
];

/** Plays the month. @returns the unobserved times, in true time, and the lasting changes of the clock */
async function playScript(world: World) {
  const absences: { from: number; to: number }[] = [];
  const shifts: { from: number; shift: number }[] = [{ from: start, shift: 0 }];
  const episodes = createEpisodes();
  const lastProbeAt = () => world.observations.findLast(({ node }) => node === 'a')?.at ?? 0;
  const updateLives = () => {
    for (const node of nodes) {
      const current = episodes.findLast(
        (one) => one.node === node && one.from <= world.now && one.to > world.now,
      );
      world.lives.set(node, world.now >= end - 10 * minute ? 'healthy' : (current?.life ?? 'healthy'));
    }
  };
  let next = 0;
  const changes = [...new Set(episodes.flatMap(({ from, to }) => [from, to]))].sort(
    (one, other) => one - other,
  );
  const updateLivesAtChanges = () => {
    let hasChanged = false;
    while ((changes[next] ?? Number.POSITIVE_INFINITY) <= world.now) {
      next += 1;
      hasChanged = true;
    }
    if (hasChanged || world.now >= end - 10 * minute) updateLives();
  };
  let killedAt = 0;
  for (const { at: eventAt, action, by = 0, isPermanent } of script) {
    await world.pass(eventAt - world.now, updateLivesAtChanges);
    if (action === 'kill') {
      killedAt = world.now;
      await world.kill();
    } else if (action === 'start') {
      absences.push({ from: killedAt, to: world.now });
      updateLivesAtChanges();
      await world.start();
    } else if (action === 'sleep') {
      absences.push({ from: world.now, to: world.now + by });
      world.now += by;
      updateLivesAtChanges();
      world.now -= by;
      await world.sleep(by);
    } else if (action === 'move') {
      world.shift += by;
      if (isPermanent) shifts.push({ from: world.now, shift: world.shift });
    } else world.isCutOff = action === 'cut off';
  }
  await world.pass(end - world.now, updateLivesAtChanges);
  await world.flush();
  expect(lastProbeAt()).toBeGreaterThan(end - 2 * minute);
  return { absences, shifts };
}

/** The expected state of each second of the ledger, by a plain account of probes, absences and clocks. */
function computeExpectedStates(
  world: World,
  node: string,
  absences: readonly { from: number; to: number }[],
  shifts: readonly { from: number; shift: number }[],
) {
  const observations = world.observations.filter((observation) => observation.node === node);
  // A failing probe counts if the node was down before it, or the next one agrees.
  const confirmedStates = observations.map(({ result }) => String(result.state));
  observations.forEach((observation, n) => {
    if (observation.result.state !== 'down' || confirmedStates[n - 1] === 'down') return;
    const next = observations
      .slice(n + 1, n + 4)
      .find((later) => later.result.state !== 'down' || later.at - observation.at >= 2_000);
    if (next?.result.state !== 'down')
      confirmedStates[n] =
        next?.result.state === 'unknown' ? 'unknown' : (confirmedStates[n - 1] ?? 'unknown');
  });
  // What was not settled when the recorder was killed is unknown.
  const unobservedTimes = absences.map(({ from, to }) => {
    const suspects = nodes.flatMap((one) => {
      const nodeObservations = world.observations.filter(
        (observation) => observation.node === one && observation.at <= from,
      );
      const [before, last] = nodeObservations.slice(-2);
      const isPending =
        last?.result.state === 'down' && before?.result.state !== 'down' && from - last.at < 5_000;
      return isPending ? [last.at] : [];
    });
    return { from: Math.min(from, ...suspects), to };
  });
  const isInWindow = (moment: number) =>
    windows.some(
      (window) =>
        (window.nodes === null || window.nodes.includes(node)) && window.from <= moment && moment < window.to,
    );
  const seconds = new Uint8Array((end - start + 4 * hour) / second);
  let written = 0;
  const write = (state: string) => {
    const moment = start + written * second;
    seconds[written++] = isInWindow(moment) ? 3 : states.indexOf(state);
  };
  let observationIndex = -1;
  let shiftIndex = -1;
  let absenceIndex = 0;
  for (let now = start; now < end; now += second) {
    while ((observations[observationIndex + 1]?.at ?? end) <= now) observationIndex += 1;
    while ((shifts[shiftIndex + 1]?.from ?? end) <= now) shiftIndex += 1;
    while ((unobservedTimes[absenceIndex]?.to ?? end) <= now) absenceIndex += 1;
    const label = (now + (shifts[shiftIndex]?.shift ?? 0) - start) / second;
    while (written < label) write('unknown'); // the clock was set forward
    // The clock was set back: later times are removed once the ledger is taken over.
    if (world.restarts.includes(now)) written = Math.min(written, label);
    if (written > label) continue;
    const isUnobserved = (unobservedTimes[absenceIndex]?.from ?? end) <= now;
    write(isUnobserved ? 'unknown' : (confirmedStates[observationIndex] ?? 'unknown'));
  }
  return seconds.subarray(0, written);
}

it('with kills, sleep, unknown names and moved clocks is recorded to the second', async () => {
  const world = new World(
    sql,
    'month',
    nodes.map((node) => ({ node, probe: 'health' })),
    start,
  );
  world.windows = windows;
  await world.start();
  const { absences, shifts } = await playScript(world);
  const expectedByNode = new Map(
    nodes.map((node) => [node, computeExpectedStates(world, node, absences, shifts)]),
  );

  let mismatchCount = 0;
  for (const [node, expected] of expectedByNode) {
    const recorded = new Uint8Array(expected.length);
    const parts = await sql<{ state: string; from: number; to: number }[]>`
      select state, extract(epoch from started_at)::float8 * 1000 - ${start} as from,
        extract(epoch from ended_at)::float8 * 1000 - ${start} as to
      from reporting_internal.node_states where observer = 'month' and node = ${node} order by started_at`;
    parts.forEach(({ state, from, to }, n) => {
      expect([from % second, to % second], `${node} ${new Date(start + from).toISOString()}`).toEqual([0, 0]);
      expect(from).toBeGreaterThanOrEqual(parts[n - 1]?.to ?? 0);
      recorded.fill(states.indexOf(state), from / second, to / second);
    });
    for (let n = 0; n < expected.length; n++) {
      if (recorded[n] === expected[n]) continue;
      if (mismatchCount++ < 5)
        console.error(
          node,
          new Date(start + n * second).toISOString(),
          'is',
          states[recorded[n] ?? 0],
          'not',
          states[expected[n] ?? 0],
        );
    }
    for (const state of [1, 2, 3])
      expect(expected.includes(state)).toBe(node !== 'c' || state !== 3 || expected.includes(3));
  }
  expect(mismatchCount).toBe(0);

  await compareRandomWindows(expectedByNode);
});

/** 1,000 random windows, to the millisecond, against sums over the plain account. */
async function compareRandomWindows(expectedByNode: ReadonlyMap<string, Uint8Array>) {
  const sums = new Map(
    [...expectedByNode].map(([node, expected]) => [
      node,
      [1, 2, 3].map((state) => cumulativeSeconds(expected, state)),
    ]),
  );
  const ledgerMs = (expectedByNode.get('a')?.length ?? 0) * second;
  const randomWindows = Array.from({ length: 1_000 }, () => {
    const [one, other] = [random(), random()].map((share) => Math.floor((share * 1.04 - 0.02) * ledgerMs));
    return [Math.min(one ?? 0, other ?? 0), Math.max(one ?? 0, other ?? 0) + 1];
  });
  const answers = await sql<
    {
      n: number;
      node: string;
      up: number;
      down: number;
      maintenance: number;
      unknown: number;
      exact: boolean;
    }[]
  >`
    select w.n::int, u.node, u.up_seconds::float8 * 1000 as up, u.down_seconds::float8 * 1000 as down,
      u.maintenance_seconds::float8 * 1000 as maintenance, u.unknown_seconds::float8 * 1000 as unknown,
      u.up_seconds + u.down_seconds + u.maintenance_seconds + u.unknown_seconds = extract(epoch from u.until - u.since)
        and u.unknown_seconds >= 0 as exact
    from (select ordinality - 1 as n, (pair ->> 0)::bigint as "from", (pair ->> 1)::bigint as "to"
      from jsonb_array_elements(${JSON.stringify(randomWindows)}::text::jsonb) with ordinality as p(pair, ordinality)) w
    cross join lateral reporting.node_uptime(to_timestamp(${start / 1000} + w."from" / 1000.0), to_timestamp(${start / 1000} + w."to" / 1000.0)) u
    where u.observer = 'month'`;
  // A window that ends before the first probe has no row.
  expect(answers.length).toBeGreaterThan(2_990);
  const mismatches = answers.filter(({ n, node, up, down, maintenance, exact }) => {
    const [from = 0, to = 0] = randomWindows[n] ?? [];
    const expected = sums.get(node)?.map((sum) => sumAt(sum, to) - sumAt(sum, from));
    return (
      !exact ||
      [up, down, maintenance].some((value, state) => Math.abs(value - (expected?.[state] ?? -1)) > 0.001)
    );
  });
  expect(mismatches.slice(0, 3)).toEqual([]);
}

/** Seconds in a state before each second. */
function cumulativeSeconds(expected: Uint8Array, state: number): Float64Array {
  const sums = new Float64Array(expected.length + 1);
  expected.forEach((one, n) => {
    sums[n + 1] = (sums[n] ?? 0) + (one === state ? 1 : 0);
  });
  return sums;
}

/** Milliseconds in a state before a moment, ms since the start. */
function sumAt(sums: Float64Array, moment: number): number {
  const last = sums.length - 1;
  if (moment <= 0) return 0;
  if (moment >= last * second) return (sums[last] ?? 0) * second;
  const secondIndex = Math.floor(moment / second);
  return (
    (sums[secondIndex] ?? 0) * second +
    ((sums[secondIndex + 1] ?? 0) - (sums[secondIndex] ?? 0)) * (moment - secondIndex * second)
  );
}
