import type { Json, JsonObject } from '../json.ts';
import { EMPTY_ID } from '../network/primary-chains.ts';
import { between, mix, unit } from '../random.ts';
import { BOOTSTRAP_SEC, FIRST_CHECK_SEC, type SimulatedNode } from './simulated-node.ts';

/** The three probes of the health API. */
export type Probe = 'health' | 'readiness' | 'liveness';

/** Interval of a node's checks, in seconds. */
const FREQUENCY = 30;

interface Check {
  readonly name: string;
  /** The tags that select the check. Checks with the tag `application` are always selected. */
  readonly tags: readonly string[];
  message(node: SimulatedNode, sec: number): Json | undefined;
}

function chainCheck(name: string, alias: string, subnetId: string): Check {
  return {
    name,
    tags: [subnetId],
    message(node, sec) {
      const chain = node.network.chain(alias);
      const blocks = chain === undefined ? undefined : node.network.blocks(chain);
      const height = blocks?.heightAt(sec) ?? Math.floor((sec - node.network.genesisSec) / 2);
      const id = blocks?.hash(height) ?? EMPTY_ID;
      const percentConnected = 0.99 + unit(node.seed, sec, 41) / 100;
      return {
        engine: {
          consensus: {
            lastAcceptedHeight: height,
            lastAcceptedID: id,
            longestProcessingBlock: '0s',
            processingBlocks: 0,
          },
          vm: null,
        },
        networking: { percentConnected, disconnectedValidators: [] },
      };
    },
  };
}

const APPLICATION = ['application'];

function checks(node: SimulatedNode): Check[] {
  const tracked = node.network.subnets
    .slice(1, 3)
    .flatMap((subnet) => subnet.chains.map((chain) => chainCheck(chain.blockchainId, '', subnet.subnetId)));
  const milliseconds = (sec: number, at: number): string =>
    `${between(node.seed, 1, 900, sec, at)}.${mix(node.seed, sec) % 1000}ms`;
  return [
    chainCheck('C', 'c-chain', EMPTY_ID),
    chainCheck('P', 'p-chain', EMPTY_ID),
    chainCheck('X', 'x-chain', EMPTY_ID),
    ...tracked,
    {
      name: 'bls',
      tags: APPLICATION,
      message: () => (node.identity.seat < 0 ? 'node is not a validator' : 'node has the correct BLS key'),
    },
    { name: 'bootstrapped', tags: APPLICATION, message: () => [] },
    { name: 'database', tags: APPLICATION, message: () => undefined },
    {
      name: 'diskspace',
      tags: APPLICATION,
      message: (_, sec) => ({
        availableDiskBytes: 900_000_000_000 - (sec - node.network.genesisSec) * 5_000,
        availableDiskPercentage: 61,
      }),
    },
    {
      name: 'network',
      tags: APPLICATION,
      message: (_, sec) => ({
        connectedPeers: between(node.seed, 30, 39, sec, 42),
        sendFailRate: unit(node.seed, sec, 43) / 100,
        timeSinceLastMsgReceived: milliseconds(sec, 44),
        timeSinceLastMsgSent: milliseconds(sec, 45),
      }),
    },
    {
      name: 'router',
      tags: APPLICATION,
      message: (_, sec) => ({
        longestRunningRequest: milliseconds(sec, 46),
        outstandingRequests: mix(node.seed, sec, 47) % 12,
      }),
    },
  ];
}

/** Formats a time as nodes do: RFC 3339 with nanoseconds and the local offset of the node from UTC. */
function timestamp(node: SimulatedNode, sec: number, offset: number): string {
  const hours = [0, -4, 2, 0][node.number] ?? 0;
  const local = new Date((sec + hours * 3600) * 1000).toISOString().slice(0, 19);
  const fraction = String(between(node.seed, 100_000_000, 999_999_999, sec, offset)).replace(/0+$/, '');
  const zone = hours === 0 ? 'Z' : `${hours < 0 ? '-' : '+'}0${Math.abs(hours)}:00`;
  return `${local}.${fraction}${zone}`;
}

/**
 * Returns the error of a failing check in the format of its release: a text with changing numbers, or an
 * object.
 */
function errorOf(node: SimulatedNode, error: string, ran: number, first: number, sec: number): Json {
  const { facts } = node.network;
  const moving = facts.has('health-moving-errors', sec, node.name);
  const text = moving ? `${error}: ${movingText(node, ran, first)}` : error;
  return facts.has('health-error-object', sec, node.name) ? { message: text } : text;
}

function movingText(node: SimulatedNode, ran: number, first: number): string {
  const share = (60 + 20 * unit(node.seed, ran, 48)).toFixed(2);
  const minutes = Math.floor((ran - first) / 60);
  const height = node.network.chain('p-chain');
  const id = height === undefined ? '' : node.network.blocks(height).hash(Math.floor(ran / 30));
  return (
    `block processing time ${minutes}m${(ran - first) % 60}.${mix(node.seed, ran) % 10}s > 2m0s, ` +
    `connected to ${share}% of the stake, ${1 + (mix(node.seed, ran, 49) % 90)} outstanding, last accepted ${id}`
  );
}

function result(
  node: SimulatedNode,
  check: Check,
  at: number,
  ran: number,
  started: number,
  sec: number,
): JsonObject {
  const { facts } = node.network;
  if (ran < started + FIRST_CHECK_SEC && facts.has('health-did-not-run', sec, node.name))
    return { error: "didn't run yet", timestamp: timestamp(node, started, at), duration: 0 };
  if (ran < started + FIRST_CHECK_SEC)
    return { error: 'not yet run', timestamp: '0001-01-01T00:00:00Z', duration: 0 };
  const booting = check.name === 'bootstrapped' && ran - started < BOOTSTRAP_SEC;
  const incident = node.timeline.incidentsAt(ran).find((candidate) => candidate.check === check.name);
  const failing = booting ? { from: started + FIRST_CHECK_SEC, error: 'subnets not bootstrapped' } : incident;
  const first =
    failing === undefined ? ran : Math.max(started, Math.ceil(failing.from / FREQUENCY) * FREQUENCY);
  return {
    message: booting ? [EMPTY_ID] : check.message(node, ran),
    error: failing === undefined ? undefined : errorOf(node, failing.error, ran, first, sec),
    timestamp: timestamp(node, ran, at),
    duration: between(node.seed, 900, 90_000, ran, at),
    contiguousFailures: failing === undefined ? undefined : Math.floor((ran - first) / FREQUENCY) + 1,
    timeOfFirstFailure: failing === undefined ? undefined : timestamp(node, first, at),
  };
}

/**
 * Returns the report of a probe at a time (Unix seconds), with the checks of the tags and of the application.
 * Without tags, the report has all checks. After a node is ready, its readiness never fails until the next
 * start.
 */
export function health(
  node: SimulatedNode,
  probe: Probe,
  tags: readonly string[],
  sec: number,
): { checks: JsonObject; healthy: boolean } {
  if (probe === 'liveness') return { checks: {}, healthy: true };
  const started = node.timeline.startedAt(sec);
  const lastRun = Math.floor(sec / FREQUENCY) * FREQUENCY;
  const ran =
    probe === 'readiness'
      ? Math.min(lastRun, Math.ceil((started + BOOTSTRAP_SEC) / FREQUENCY) * FREQUENCY)
      : lastRun;
  const requested = checks(node)
    .filter((check) => probe === 'health' || check.name === 'bootstrapped')
    .filter(
      (check) =>
        tags.length === 0 || check.tags === APPLICATION || check.tags.some((tag) => tags.includes(tag)),
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const entries = requested.map((check, i): [string, JsonObject] => [
    check.name,
    result(node, check, i, ran, started, sec),
  ]);
  return {
    checks: Object.fromEntries(entries),
    healthy: entries.every(([, entry]) => entry.error === undefined),
  };
}
