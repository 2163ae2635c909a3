import { cb58, namedBytes } from '../ids/base58.ts';
import type { JsonObject } from '../json.ts';
import { mix } from '../random.ts';
import type { SimulatedNode } from './simulated-node.ts';

const RELEASES = ['1.13.0', '1.13.1', '1.13.2', '1.13.4', '1.13.5', '1.14.0', '1.14.1', '1.14.2'];
const MONTH = 30 * 86_400;

/**
 * Returns the release of a node, which is the newest release at the last start of the node. A few nodes are
 * one release behind.
 */
export function release(node: SimulatedNode, sec: number, seat = node.identity.seat): string {
  const age = node.timeline.startedAt(sec) - node.network.genesisSec;
  const newest = Math.floor(age / (3 * MONTH)) - (mix(node.network.seed, seat, 61) % 8 === 0 ? 1 : 0);
  return RELEASES[Math.max(0, Math.min(newest, RELEASES.length - 1))] ?? '1.13.0';
}

/** Returns the response of info.getNodeVersion. */
export function nodeVersion(node: SimulatedNode, sec: number): JsonObject {
  const version = release(node, sec);
  const commit = [1, 2, 3, 4, 5].map((i) =>
    mix(Number(version.replace(/\D/g, '')), i)
      .toString(16)
      .padStart(8, '0'),
  );
  return {
    version: `avalanchego/${version}`,
    databaseVersion: 'v1.4.5',
    rpcProtocolVersion: version.startsWith('1.14') ? '44' : '42',
    gitCommit: commit.join(''),
    vmVersions: { avm: `v${version}`, evm: `v${version}`, platform: `v${version}` },
  };
}

/**
 * Returns the response of info.upgrades, with an upgrade every four months. The last upgrade is not scheduled
 * yet.
 */
export function upgrades(): JsonObject {
  const names =
    'apricotPhase1 apricotPhase2 apricotPhase3 apricotPhase4 apricotPhase5 apricotPhasePre6 apricotPhase6 apricotPhasePost6 banff cortina durango etna fortuna granite';
  const times = names.split(' ').map((name, i): [string, string] => {
    return [`${name}Time`, new Date(Date.UTC(2021, 2 + i * 4, 3, 15)).toISOString().replace('.000', '')];
  });
  return {
    ...Object.fromEntries(times.slice(0, 4)),
    apricotPhase4MinPChainHeight: 700_123,
    ...Object.fromEntries(times.slice(4, 10)),
    cortinaXChainStopVertexID: cb58(namedBytes(0, 'stop vertex', 32)),
    ...Object.fromEntries(times.slice(10)),
    graniteEpochDuration: 300_000_000_000,
    heliconTime: '9999-12-01T00:00:00Z',
  };
}
