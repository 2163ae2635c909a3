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
import { type Cause, withProbeTime } from './month-causes.ts';
import { MONTH_START, type MonthScript, NODES, type NodeName } from './month-script.ts';
import { minute, second, World } from './world.ts';

export const OWN_ID = 'NodeID-ZSgv3H2FvSopL9oT5cWzenMc8ebsQAoU';
export const OTHER_ID = 'NodeID-5haT5BS98VcXvMdJm3Je5Jsk9rFk5qGMj';
/** The node whose identity is verified over HTTP while its id is swapped. */
const SWAPPED_NODE: NodeName = 'c';
/** Time after which a difference ends without the other node, in ms. */
const DIFFERENCE_LIFETIME_MS = 120 * second;

/** A probe that counts, with the state that the script requires. Times are ms since 1970. */
export interface ExpectedObservation {
  readonly node: NodeName;
  readonly at: number;
  readonly state: Cause['state'];
  readonly isOther: boolean;
}

/** A played month. */
export interface PlayedMonth {
  readonly world: World;
  readonly observations: readonly ExpectedObservation[];
  /** Unobserved times, in true time. */
  readonly absences: readonly { readonly from: number; readonly to: number }[];
  /** Lasting changes of the clock, and their times. */
  readonly shifts: readonly { readonly from: number; readonly shift: number }[];
  /** Names of the causes that a probe found. */
  readonly foundCauses: ReadonlySet<string>;
  /** Checks of the identity alert. */
  readonly identityChecks: number;
}

const HEALTHY: ProbeQueryResult = {
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
): Promise<PlayedMonth> {
  const { end, events, swaps } = script;
  const targets = NODES.map((node) => ({ node, probe: 'health' }));
  const world = new World(sql, 'month', targets, MONTH_START);
  world.windows = script.windows.map((window) => ({ ...window }));
  const isSwapped = (at: number) => swaps.some(({ from, to }) => from <= at && at < to);
  const isIdentified = (at: number) =>
    at < MONTH_START + 2 * minute ||
    swaps.some(({ from, to }) => from - 3 * minute <= at && at < to + 6 * minute);

  const server = await nodeServer(() => ({ id: isSwapped(world.now) ? OTHER_ID : OWN_ID }));
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
  const queryNode = createProbeQuery(createUpstreamOpener(config, keys, sql, clock), ledger, clock);

  const observations: ExpectedObservation[] = [];
  const foundCauses = new Set<string>();
  let currentCutOff: readonly Cause[] = [];
  /** All nodes refuse connections until then. */
  let refusingUntil = 0;
  let heldResponses: (() => void)[] = [];
  world.respond = async (name) => {
    const node = NODES.find((one) => one === name) ?? 'a';
    const at = world.now;
    if (world.isHoldingProbes) {
      await new Promise<void>((resolve) => heldResponses.push(resolve));
      return withProbeTime(HEALTHY, at);
    }
    const addObservation = (state: Cause['state'], isOther = false) =>
      observations.push({ node, at, state, isOther });
    if (node === SWAPPED_NODE && isIdentified(at)) {
      addObservation(isSwapped(at) ? 'unknown' : 'up', isSwapped(at));
      const result = await queryNode({ node, probe: 'health' }, new AbortController().signal);
      return withProbeTime(result, at);
    }
    const causeIndex = script.causeAt(node, at);
    const cause =
      currentCutOff[observations.length % currentCutOff.length] ??
      causes[at < refusingUntil ? 0 : (causeIndex ?? Number.NaN)];
    addObservation(cause?.state ?? 'up');
    if (cause) foundCauses.add(cause.name);
    return withProbeTime(cause?.result ?? HEALTHY, at);
  };

  let identityChecks = 0;
  const checkIdentity = async () => {
    if (world.now % (10 * second) !== 0 || !isIdentified(world.now)) return;
    const own = observations.filter(({ node }) => node === SWAPPED_NODE);
    const other = own.findLast(({ isOther }) => isOther)?.at ?? Number.NaN;
    const isOver = own.some(({ at, isOther }) => !isOther && at >= other + DIFFERENCE_LIFETIME_MS);
    const findings = await sourceChanged.evaluate({ sql, at: new Date(world.now), facts: null } as never);
    const expected = Number.isNaN(other) || isOver ? [] : [SWAPPED_NODE];
    expect([new Date(world.now), findings.map(({ subject }) => subject)]).toEqual([
      new Date(world.now),
      expected.map((node) => expect.stringContaining(node)),
    ]);
    identityChecks += 1;
  };
  const advanceUntil = async (to: number) => {
    while (world.now < to) {
      const isNearSwap = isIdentified(world.now);
      await world.pass(isNearSwap ? second : Math.min(minute, to - world.now));
      if (isNearSwap) await checkIdentity();
    }
  };

  const absences: { from: number; to: number }[] = [];
  const shifts: { from: number; shift: number }[] = [{ from: MONTH_START, shift: 0 }];
  let killedAt = 0;
  await world.start();
  for (const event of events) {
    await advanceUntil(event.at);
    if (event.action === 'kill') {
      killedAt = world.now;
      await world.kill();
    } else if (event.action === 'start') {
      absences.push({ from: killedAt, to: world.now });
      await world.start();
    } else if (event.action === 'sleep') {
      world.isHoldingProbes = event.inFlight ?? false;
      while (world.isHoldingProbes && heldResponses.length === 0) await world.pass(second);
      world.isHoldingProbes = false;
      if (event.inFlight) refusingUntil = world.now + event.by + 3 * minute;
      absences.push({ from: world.now, to: world.now + event.by });
      await world.sleep(event.by);
      for (const respond of heldResponses) respond();
      heldResponses = [];
    } else if (event.action === 'move') {
      world.shift += event.by;
      if (event.isPermanent) shifts.push({ from: world.now, shift: world.shift });
    } else currentCutOff = event.action === 'cut off' ? cutOff : [];
  }
  await advanceUntil(end);
  while (
    world.now < end + 10 * minute &&
    observations.some(({ at, state }) => state === 'down' && at > world.now - 5 * second)
  )
    await world.pass(second);
  await world.flush();
  await server.close();
  return { world, observations, absences, shifts, foundCauses, identityChecks };
}
