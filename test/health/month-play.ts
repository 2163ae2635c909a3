import type postgres from 'postgres';
import { expect } from 'vitest';
import { sourceChanged } from '../../src/alerts/rules/findings.ts';
import { activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../src/app/upstream-opener.ts';
import { validateConfig } from '../../src/config/load.ts';
import { createProbeQuery } from '../../src/health/probe-node.ts';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { registerAll } from '../../src/recording/register.ts';
import { nodeServer } from '../recording/identity/node-server.ts';
import { type Cause, lookAt } from './month-causes.ts';
import { MONTH_START, type MonthScript, NODES, type NodeName } from './month-script.ts';
import { minute, second, World } from './world.ts';

export const OWN_ID = 'NodeID-ZSgv3H2FvSopL9oT5cWzenMc8ebsQAoU';
export const OTHER_ID = 'NodeID-5haT5BS98VcXvMdJm3Je5Jsk9rFk5qGMj';
/** The node whose identity is verified over HTTP while its id is swapped. */
const SWAPPED: NodeName = 'c';
/** Time after which a difference ends without the other node, in ms. */
const DIFFERENCE_LASTS = 120 * second;

/** A probe that counts, with the state that the script requires. Times are ms since 1970. */
export interface DemandedLook {
  readonly node: NodeName;
  readonly at: number;
  readonly state: Cause['state'];
  readonly isOther: boolean;
}

/** A played month. */
export interface Played {
  readonly world: World;
  readonly looks: readonly DemandedLook[];
  /** Unobserved times, in true time. */
  readonly absences: readonly { readonly from: number; readonly to: number }[];
  /** Lasting changes of the clock, and their times. */
  readonly shifts: readonly { readonly from: number; readonly shift: number }[];
  /** Names of the causes that a probe found. */
  readonly seen: ReadonlySet<string>;
  /** Checks of the identity alert. */
  readonly identityChecks: number;
}

const WELL: ProbeQueryResult = {
  state: 'up',
  error: null,
  latency: 12,
  checks: ['C', 'network'].map((name) => ({
    ...{ name, state: 'up' as const, error: null, message: null },
    ...{ timestamp: null, failingSince: null, failures: null },
  })),
};

/** Plays the script against the prober, and compares the identity alert with the script. */
export async function playMonth(
  sql: postgres.Sql,
  script: MonthScript,
  { causes, cutOff }: { readonly causes: readonly Cause[]; readonly cutOff: readonly Cause[] },
): Promise<Played> {
  const { end, events, swaps } = script;
  const targets = NODES.map((node) => ({ node, probe: 'health' }));
  const world = new World(sql, 'month', targets, MONTH_START);
  world.windows = script.windows.map((window) => ({ ...window }));
  const swapOf = (at: number) => swaps.some(({ from, to }) => from <= at && at < to);
  const isIdentified = (at: number) =>
    at < MONTH_START + 2 * minute ||
    swaps.some(({ from, to }) => from - 3 * minute <= at && at < to + 6 * minute);

  const server = await nodeServer(() => ({ id: swapOf(world.now) ? OTHER_ID : OWN_ID }));
  const config = validateConfig(
    {
      ...{ network: 'mainnet', observer: 'month' },
      upstreams: { nodes: NODES.map((name) => ({ name, url: `${server.url}/${name}` })) },
    },
    catalogNames,
    'test',
  );
  const ledgers = activeLedgers(config);
  await registerAll(sql, ledgers, MONTH_START, { recorder: 'month', digest: null });
  const [ledger] = ledgers;
  if (!ledger) throw new Error('node_health is not active');
  const keys = { chainDataKey: undefined, metricsKey: undefined };
  const clock = () => world.now;
  const identified = createProbeQuery(createUpstreamOpener(config, keys, sql, clock), ledger, clock);

  const looks: DemandedLook[] = [];
  const seen = new Set<string>();
  let cutOffNow: readonly Cause[] = [];
  /** All nodes refuse connections until then. */
  let refusingUntil = 0;
  let held: (() => void)[] = [];
  world.looker = async (name) => {
    const node = NODES.find((one) => one === name) ?? 'a';
    const at = world.now;
    if (world.holding) {
      await new Promise<void>((resolve) => held.push(resolve));
      return lookAt(WELL, at);
    }
    const take = (state: Cause['state'], isOther = false) => looks.push({ node, at, state, isOther });
    if (node === SWAPPED && isIdentified(at)) {
      take(swapOf(at) ? 'unknown' : 'up', swapOf(at));
      const answer = await identified({ node, probe: 'health' }, new AbortController().signal);
      return lookAt(answer, at);
    }
    const scripted = script.causeAt(node, at);
    const cause =
      cutOffNow[looks.length % cutOffNow.length] ?? causes[at < refusingUntil ? 0 : (scripted ?? Number.NaN)];
    take(cause?.state ?? 'up');
    if (cause) seen.add(cause.name);
    return lookAt(cause?.look ?? WELL, at);
  };

  let identityChecks = 0;
  const checkIdentity = async () => {
    if (world.now % (10 * second) !== 0 || !isIdentified(world.now)) return;
    const own = looks.filter(({ node }) => node === SWAPPED);
    const other = own.findLast(({ isOther }) => isOther)?.at ?? Number.NaN;
    const isOver = own.some(({ at, isOther }) => !isOther && at >= other + DIFFERENCE_LASTS);
    const found = await sourceChanged.evaluate({ sql, at: new Date(world.now), facts: null } as never);
    const expected = Number.isNaN(other) || isOver ? [] : [SWAPPED];
    expect([new Date(world.now), found.map(({ subject }) => subject)]).toEqual([
      new Date(world.now),
      expected.map((node) => expect.stringContaining(node)),
    ]);
    identityChecks += 1;
  };
  const passUntil = async (to: number) => {
    while (world.now < to) {
      const near = isIdentified(world.now);
      await world.pass(near ? second : Math.min(minute, to - world.now));
      if (near) await checkIdentity();
    }
  };

  const absences: { from: number; to: number }[] = [];
  const shifts: { from: number; shift: number }[] = [{ from: MONTH_START, shift: 0 }];
  let killedAt = 0;
  await world.start();
  for (const event of events) {
    await passUntil(event.at);
    if (event.does === 'kill') {
      killedAt = world.now;
      await world.kill();
    } else if (event.does === 'start') {
      absences.push({ from: killedAt, to: world.now });
      await world.start();
    } else if (event.does === 'sleep') {
      world.holding = event.inFlight ?? false;
      while (world.holding && held.length === 0) await world.pass(second);
      world.holding = false;
      if (event.inFlight) refusingUntil = world.now + event.by + 3 * minute;
      absences.push({ from: world.now, to: world.now + event.by });
      await world.sleep(event.by);
      for (const answer of held) answer();
      held = [];
    } else if (event.does === 'move') {
      world.shift += event.by;
      if (event.stays) shifts.push({ from: world.now, shift: world.shift });
    } else cutOffNow = event.does === 'cut off' ? cutOff : [];
  }
  await passUntil(end);
  while (
    world.now < end + 10 * minute &&
    looks.some(({ at, state }) => state === 'down' && at > world.now - 5 * second)
  )
    await world.pass(second);
  await world.flush();
  await server.close();
  return { world, looks, absences, shifts, seen, identityChecks };
}
