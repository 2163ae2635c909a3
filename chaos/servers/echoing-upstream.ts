import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/**
 * A service in front of another one, which refuses on request, and then returns the key that it received; or whose page
 * tokens form a cycle.
 */
export class EchoingUpstream {
  readonly url: string;
  readonly keys = new Set<string>();
  /** Its refusal; null: it forwards calls. */
  status: number | null = null;
  /** Tokens lead from A to B and from B to A. */
  circle = false;
  circled = 0;
  calls = 0;
  echoed = 0;
  readonly #server: Server;

  private constructor(server: Server, url: string, upstreamUrl: string) {
    this.#server = server;
    this.url = url;
    server.on('request', async (request, response) => {
      this.calls += 1;
      const key = String(request.headers['x-api-key'] ?? '');
      this.keys.add(key);
      if (this.status !== null) {
        this.echoed += 1;
        const message = [`the key ${key} of http://${key}@elsewhere/?key=${key} is not welcome`, key];
        response.writeHead(this.status, { 'content-type': 'application/json', 'x-echo': key });
        response.end(JSON.stringify({ statusCode: this.status, error: key, message }));
        return;
      }
      const target = new URL(request.url ?? '/', upstreamUrl);
      const token = target.searchParams.get('pageToken');
      if (this.circle) target.searchParams.delete('pageToken');
      const answer = await fetch(target).catch(() => null);
      if (!answer) return void response.destroy();
      const type = answer.headers.get('content-type') ?? 'application/json';
      const body = await answer.text();
      response.writeHead(answer.status, { 'content-type': type });
      response.end(this.circle ? this.#withCycle(body, token) : body);
    });
  }

  /** A page whose token is one of the two. */
  #withCycle(body: string, token: string | null): string {
    const page: unknown = JSON.parse(body);
    if (typeof page !== 'object' || page === null) return body;
    this.circled += 1;
    return JSON.stringify({ ...page, nextPageToken: token === 'A' ? 'B' : 'A' });
  }

  static async open(upstreamUrl: string): Promise<EchoingUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new EchoingUpstream(server, `http://127.0.0.1:${address.port}`, upstreamUrl);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
