import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/** A service before another one, which refuses when told to, and then says aloud which key it was sent. */
export class EchoingUpstream {
  readonly url: string;
  readonly keys = new Set<string>();
  /** What it refuses with; null: it passes calls on. */
  status: number | null = null;
  calls = 0;
  echoed = 0;
  readonly #server: Server;

  private constructor(server: Server, url: string, behind: string) {
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
      const answer = await fetch(behind + (request.url ?? '/')).catch(() => null);
      if (!answer) return void response.destroy();
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'application/json',
      });
      response.end(await answer.text());
    });
  }

  static async open(behind: string): Promise<EchoingUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new EchoingUpstream(server, `http://127.0.0.1:${address.port}`, behind);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
