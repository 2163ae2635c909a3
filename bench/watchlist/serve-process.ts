import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/client.ts';
import { outliveLostConnections } from '../../src/db/lost-connections.ts';
import { ReadGate } from '../../src/db/read-gate.ts';
import { Access } from '../../src/server/access.ts';
import { ProcessCounts } from '../../src/server/metrics/process-counts.ts';
import { buildServer } from '../../src/server/server.ts';
import { statusSite } from '../../src/server/status-site.ts';
import { watchList } from './configuration.ts';

/** The recorder's server as a process of the benchmark. Arguments: the database, and how many chains and nodes. Says its address to its parent. */
const [, , url = '', chains = '', nodes = ''] = process.argv;
const { config, feed, ledger } = watchList(Number(chains), Number(nodes));
const server = buildServer({
  sql: openDatabase(url).reader,
  gate: new ReadGate(url),
  clock: systemClock,
  access: new Access({ host: '127.0.0.1', token: undefined, proxies: [], public: [] }),
  log: { warn: (...said: unknown[]) => process.stderr.write(`${JSON.stringify(said)}\n`) },
  queueReachable: async () => {},
  queues: { look: async () => [], jobs: async () => [] },
  names: [],
  budgets: [],
  recorder: { name: config.name, network: config.network, simulated: false, directory: null },
  watched: [feed, ledger],
  upstreams: config.upstreams,
  counts: new ProcessCounts(),
  recording: null,
  site: statusSite(config),
});
outliveLostConnections();
process.once('disconnect', () => process.exit()); // the parent is gone
const address = await server.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ address, pid: process.pid });
