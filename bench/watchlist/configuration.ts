import { activeFeeds, activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';

export const OBSERVER = 'bench';

/** A recorder of the metrics of so many chains, which looks at so many nodes. Nobody asks its upstreams. */
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
      // Of the nodes only their health: what else they tell is a handful of lists from any of them.
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
