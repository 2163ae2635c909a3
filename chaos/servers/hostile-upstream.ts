import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import fc from 'fast-check';

/** A service in front of the sandbox that responds to one call in three with a random invalid response. */
export class HostileUpstream {
  readonly url: string;
  /** The share of calls with a random response. */
  hostility = 0.35;
  invented = 0;
  readonly #server: Server;
  readonly #inventions: Iterator<Invention>;

  private constructor(server: Server, url: string, upstreamUrl: string, seed: number) {
    this.#server = server;
    this.url = url;
    this.#inventions = inventions(seed);
    let calls = 0;
    server.on('request', async (request, response) => {
      calls += 1;
      if ((calls * 0.618_034) % 1 < this.hostility) {
        const { value } = this.#inventions.next();
        this.invented += 1;
        response.writeHead(value.status, { 'content-type': value.type });
        response.end(value.body);
        return;
      }
      // Forwarded unchanged, including faults of the sandbox.
      const answer = await fetch(upstreamUrl + (request.url ?? '/')).catch(() => null);
      const body = await answer?.arrayBuffer().catch(() => null);
      if (!answer || !body) return void response.destroy();
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(body));
    });
  }

  static async open(upstreamUrl: string, seed: number): Promise<HostileUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new HostileUpstream(server, `http://127.0.0.1:${address.port}`, upstreamUrl, seed);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

interface Invention {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
}

const anyField = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('NaN', '-1', '1e400', '\u0000', '\ud800', null),
  fc.string(),
);
const almostBlock = fc.record(
  {
    blockNumber: anyField,
    blockHash: anyField,
    parentHash: anyField,
    blockTimestamp: fc.oneof(anyField, fc.integer()),
    blockType: anyField,
    txCount: anyField,
    transactions: anyField,
    blockSizeBytes: anyField,
    proposerDetails: anyField,
  },
  { requiredKeys: [] },
);
const almostPage = fc.record(
  {
    blocks: fc.oneof(fc.array(fc.oneof(almostBlock, fc.jsonValue())), fc.jsonValue()),
    nextPageToken: anyField,
  },
  { requiredKeys: ['nextPageToken'] },
);
const anything: fc.Arbitrary<Invention> = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 204, 301, 400, 404, 418, 500, 503),
  type: fc.constantFrom(
    'application/json',
    'application/json; charset=utf-8',
    'text/html',
    'application/problem+json',
    '',
  ),
  body: fc.oneof(
    almostPage.map((page) => JSON.stringify(page)),
    fc.json(),
    fc.uint8Array({ maxLength: 2_000 }),
    fc.string({ maxLength: 2_000, unit: 'binary' }),
  ),
});

/** Random responses without end, the same for the same seed. */
function* inventions(seed: number): Generator<Invention, never> {
  for (let batch = 0; ; batch++) yield* fc.sample(anything, { numRuns: 100, seed: seed + batch });
}
