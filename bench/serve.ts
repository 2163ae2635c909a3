import type { Config } from '../src/config/schema.ts';
import { outliveLostConnections } from '../src/db/postgres-workarounds/unhandled-rejections.ts';
import type { ServerContext } from '../src/server/server-context.ts';
import { readStatusSite } from '../src/server/status-site.ts';
import { servePagesOf } from '../test/support/page-server.ts';

/**
 * Makes this process the recorder's server over a database without records. Sends its address and process number to its
 * parent, and ends with it.
 */
export async function serveForParent(
  url: string,
  config: Config,
  watched: ServerContext['watched'],
): Promise<void> {
  const { address } = await servePagesOf(url, {
    log: { warn: (...messages: unknown[]) => process.stderr.write(`${JSON.stringify(messages)}\n`) },
    recorder: { name: config.name, network: config.network, simulated: false, directory: null },
    watched,
    upstreams: config.upstreams,
    site: readStatusSite(config),
  });
  outliveLostConnections();
  process.once('disconnect', () => process.exit()); // the parent has ended
  process.send?.({ address, pid: process.pid });
}
