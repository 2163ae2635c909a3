import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** Nodes with scripted health reports. */
export class ScriptedNodes {
  readonly url: string;
  /** A failing check in the report, by node. */
  readonly failingChecks = new Map<string, string>();
  /**
   * The first request of the probe `health` of each node since it failed, ms since 1970: each probe has its own
   * schedule.
   */
  readonly firstFailingRequests = new Map<string, number>();
  unhealthyResponses = 0;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
    server.on('request', (request, response) => {
      const [, node = '', ...path] = (request.url ?? '').split('/');
      const probe = path.join('/');
      const ill = probe.startsWith('ext/health') ? this.failingChecks.get(node) : undefined;
      const well = `"C":{"timestamp":"${new Date().toISOString()}"}`;
      if (ill !== undefined) {
        this.unhealthyResponses += 1;
        if (probe === 'ext/health' && !this.firstFailingRequests.has(node))
          this.firstFailingRequests.set(node, Date.now());
      }
      response.writeHead(ill === undefined ? 200 : 503, { 'content-type': 'application/json' });
      response.end(
        `{"checks":{${ill === undefined ? well : `${well},${ill}`}},"healthy":${ill === undefined}}`,
      );
    });
  }

  static async open(): Promise<ScriptedNodes> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return new ScriptedNodes(server, `http://127.0.0.1:${port}`);
  }

  /** The nodes of a configuration. */
  named(names: readonly string[]): { name: string; url: string }[] {
    return names.map((name) => ({ name, url: `${this.url}/${name}` }));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
