import { catalogNames } from '../src/app/configured-feeds.ts';
import { MAX_INDEX_LAG_MS } from '../src/datasets/sources/durations.ts';
import { BLOCK_CHAINS, type WatchedBlocks } from './truth.ts';
import type { World } from './world.ts';

/** The datasets of a recorder of a world; all others are disabled. */
export interface RecordingSetup {
  /** Overrides by dataset, of those that are recorded. */
  readonly datasets: Readonly<Record<string, object>>;
  /** The recorder's name. */
  readonly name?: string;
  readonly nodeIds?: readonly string[];
  readonly chains?: readonly string[];
  readonly evmAddresses?: readonly { chain: string; address: string }[];
  readonly collections?: readonly { readonly chain: string; readonly address: string }[];
  readonly nodes?: readonly { name: string; url: string; timeout?: string }[];
  readonly chainData?: object;
  readonly metrics?: object;
}

/** Writes the configuration of a recorder that records only this from the world's sandbox. @returns its file */
export function configure(world: World, setup: RecordingSetup, name?: string): Promise<string> {
  const { url } = world.sandbox;
  const disabled = catalogNames.datasets.map((dataset) => [dataset, { enabled: false }]);
  return world.configure(
    {
      network: 'sandbox',
      ...(setup.name === undefined ? {} : { name: setup.name }),
      observer: 'chaos',
      upstreams: {
        chainData: { url, apiKeyHeader: 'x-api-key', timeout: '5s', ...setup.chainData },
        metrics: { url, apiKeyHeader: 'x-api-key', timeout: '5s', ...setup.metrics },
        nodes: setup.nodes ?? [],
      },
      watch: {
        nodeIds: setup.nodeIds ?? [],
        chains: setup.chains ?? [],
        evmAddresses: setup.evmAddresses ?? [],
        collections: setup.collections ?? [],
      },
      datasets: { ...Object.fromEntries(disabled), ...setup.datasets },
    },
    name,
  );
}

/** The first of the sandbox's nodes, for a configuration. */
export const oneNode = ({ sandbox }: World) => [
  { name: 'validator-1', url: `${sandbox.url}/nodes/validator-1` },
];

/** The targets of proposed blocks: each node on each chain. */
export function blockTargets(nodeIds: readonly string[], from: number, to: number): WatchedBlocks[] {
  return nodeIds.flatMap((nodeId) =>
    BLOCK_CHAINS.map((blockchainId) => ({ nodeId, blockchainId, from, to })),
  );
}

export const DAY = 86_400_000;

/** The days within the delay of an index: they are recorded, and not claimed as covered. */
export const UNCLAIMED_DAYS = MAX_INDEX_LAG_MS / DAY;
/** The newest part of the blocks that a recorder does not claim, with a margin, in ms. */
export const UNCLAIMED_MS = MAX_INDEX_LAG_MS + 11 * 60_000;

/** Midnight (UTC) this many days ago, in ms: configurations contain days. */
export function midnight(daysAgo: number): number {
  return Math.floor(Date.now() / DAY) * DAY - daysAgo * DAY;
}

/** A time in the form of the configuration. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
