import { activeFeeds, activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';

export const OBSERVER = 'bench';

/** A recorder of the metrics of this many chains, which probes this many nodes. Its upstreams are not called. */
export function watchList(chains: number, nodes: number) {
  const config = validateConfig(
    {
      network: 'sandbox',
      observer: OBSERVER,
      upstreams: {
        metrics: { url: 'http://127.0.0.1:9' },
        nodes: Array.from({ length: nodes }, (_, n) => ({ name: `node-${n}`, url: 'http://127.0.0.1:9' })),
      },
      watch: { chains: Array.from({ length: chains }, (_, n) => String(1_001 + n)) },
      // Only the health of the nodes: their other datasets are a handful of lists from any of them.
      datasets: Object.fromEntries(
        catalogNames.datasets
          .filter((name) => name !== 'metric_points' && name !== 'node_health')
          .map((name) => [name, { enabled: false }]),
      ),
    },
    catalogNames,
    'the benchmark',
  );
  const [feed] = activeFeeds(config);
  const [ledger] = activeLedgers(config);
  if (!feed || !ledger) throw new Error('there is nothing to record');
  return { config, feed, ledger };
}
