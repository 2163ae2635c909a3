import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** A service in front of another one with any rate limit headers. */
export class LimitingUpstream {
  readonly url: string;
  /** The headers of every response. */
  headers: Readonly<Record<string, string>> = {};
  /** Times of its requests, ms since 1970. */
  readonly requestTimes: number[] = [];
  readonly #server: Server;

  private constructor(server: Server, url: string, upstreamUrl: string) {
    this.#server = server;
    this.url = url;
    server.on('request', async (request, response) => {
      this.requestTimes.push(Date.now());
      const answer = await fetch(new URL(request.url ?? '/', upstreamUrl)).catch(() => null);
      if (!answer) return void response.destroy();
      const body = await answer.text();
      const type = answer.headers.get('content-type') ?? 'application/json';
      response.writeHead(answer.status, { 'content-type': type, ...this.headers }).end(body);
    });
  }

  static async open(upstreamUrl: string): Promise<LimitingUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new LimitingUpstream(server, `http://127.0.0.1:${address.port}`, upstreamUrl);
  }

  /** Number of requests since a time, ms since 1970. */
  countRequestsSince(time: number): number {
    return this.requestTimes.filter((at) => at > time).length;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
