import { activeFeeds, activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import type { ConfiguredFeed } from '../../src/recording/active-feed.ts';

/** Name of the observer of the nodes. */
export const OBSERVER = 'bench';
const NODES = 10;
/** Number of chains whose points over some years are ten million. */
const CHAINS = 50;

/** The chains, by the ids that the record has. */
export const chains = ['43114', ...Array.from({ length: CHAINS - 1 }, (_, n) => String(1_001 + n))];
export const nodes = Array.from({ length: NODES }, (_, n) => `validator-${n + 1}`);

/** The configuration of the recorder whose pages are requested. Its upstreams are not called. */
export const config = validateConfig(
  {
    network: 'sandbox',
    observer: OBSERVER,
    upstreams: {
      chainData: { url: 'http://127.0.0.1:9' },
      metrics: { url: 'http://127.0.0.1:9' },
      nodes: nodes.map((name) => ({ name, url: 'http://127.0.0.1:9' })),
    },
    watch: {
      chains,
      evmAddresses: Array.from({ length: 20 }, (_, n) => ({
        chain: '43114',
        address: `0x${String(n).padStart(40, '0')}`,
      })),
    },
  },
  catalogNames,
  'the configuration of the benchmark',
);

/** Its configured feeds. */
export const configuredFeeds: readonly ConfiguredFeed[] = [...activeFeeds(config), ...activeLedgers(config)];
