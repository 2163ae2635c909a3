import { activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';

export const OBSERVER = 'swarm';
/** Interval of the probes of a node, ms. */
export const PROBE_INTERVAL_MS = 15_000;

/** The configuration with this many nodes, all served by one port of this machine. */
export function probingConfig({
  port,
  nodes,
  partitions,
}: {
  port: number;
  nodes: number;
  partitions: number;
}) {
  const config = validateConfig(
    {
      network: 'mainnet',
      observer: OBSERVER,
      upstreams: {
        nodes: Array.from({ length: nodes }, (_, n) => ({
          name: `node-${n}`,
          url: `http://127.0.0.1:${port}`,
        })),
      },
      datasets: { node_health: { every: `${PROBE_INTERVAL_MS / 1000}s` } },
      health: { partitions },
    },
    catalogNames,
    'the benchmark',
  );
  const [ledger] = activeLedgers(config);
  if (!ledger) throw new Error('there is nothing to watch');
  return { config, ledger };
}
