import { activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { createProbeQuery } from '../../src/health/probe-node.ts';
import type { ProbeQueryResult } from '../../src/health/prober-context.ts';
import { unmetered } from '../../src/upstreams/budget.ts';
import { UpstreamSession } from '../../src/upstreams/upstream-session.ts';

const [ledger] = activeLedgers(
  validateConfig(
    {
      network: 'mainnet',
      upstreams: { nodes: [{ name: 'a', url: 'http://127.0.0.1:9650' }] },
      datasets: { node_health: { every: '5s' } },
    },
    catalogNames,
    'the test',
  ),
);

/**
 * Probes a node once over HTTP. @param cutOff the recorder is cut off from the network @param deadline of one call, ms
 */
export async function probeOnce(url: string, cutOff = false, deadline = 30_000): Promise<ProbeQueryResult> {
  if (!ledger) throw new Error('node_health is not active');
  const settings = {
    name: 'a',
    url,
    headers: {},
    redact: (text: string) => text,
    budget: unmetered,
    deadline,
    maxBytes: 1e6,
  };
  const query = createProbeQuery(
    (_feed, _job, context) => new UpstreamSession(settings, context),
    ledger,
    Date.now,
    async () => cutOff,
  );
  return query({ node: 'a', probe: 'health' }, new AbortController().signal);
}
