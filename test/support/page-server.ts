import { request } from 'undici';
import { openDatabase } from '../../src/db/client.ts';
import { ReadGate } from '../../src/db/read-gate.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Access } from '../../src/server/access.ts';
import { ProcessCounts } from '../../src/server/metrics/process-counts.ts';
import { buildServer } from '../../src/server/server.ts';
import type { ServerContext } from '../../src/server/server-context.ts';

/** A server that listens, for one test file. */
export interface PageServer {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves the pages of a database, without configuration. @param more differences from the default @param token of its
 * requests
 */
export async function servePagesOf(
  url: string,
  more: Partial<ServerContext> = {},
  token?: string,
): Promise<PageServer> {
  const client = openDatabase(url);
  const gate = more.gate ?? new ReadGate(url);
  const server = buildServer({
    sql: client.reader,
    clock: systemClock,
    access: new Access({ host: '127.0.0.1', token, trustedProxies: [], public: [] }),
    log: { warn: () => {} },
    queueReachable: async () => {},
    queues: { readContents: async () => [], jobs: async () => [] },
    allowedHosts: [],
    budgets: [],
    recorder: { name: 'recorder', network: 'fuji', simulated: false, directory: null },
    watched: [],
    upstreams: { nodes: [] },
    counts: new ProcessCounts(),
    rewards: { minUptime: 80, minUptimeAfterUpgrade: 90 },
    site: { title: 'Nodes', text: [], logo: null, nodes: [], announced: { once: [], recurring: [] } },
    recording: null,
    ...more,
    gate,
  });
  return {
    address: await server.listen({ host: '127.0.0.1', port: 0 }),
    close: async () => {
      await server.close();
      await gate.close();
      await client.close();
    },
  };
}

/** A response, with its complete text. */
export async function sendRequest(address: string, options: Parameters<typeof request>[1] = {}) {
  const { statusCode, headers, body } = await request(address, options);
  return { code: statusCode, headers, body: await body.text() };
}
