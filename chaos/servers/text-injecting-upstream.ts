import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

/**
 * A service in front of another one that adds a text everywhere in a response: in unknown fields, in their names, in
 * texts, in an item that cannot be decoded, and in its errors.
 */
export class TextInjectingUpstream {
  readonly url: string;
  /** Number of responses with the text. */
  injectedCount = 0;
  /** Paths that contain this are refused. */
  refused = '/blockchains/x-chain/';
  readonly #server: Server;

  private constructor(server: Server, url: string, upstreamUrl: string, textFor: (key: string) => string) {
    this.#server = server;
    this.url = url;
    server.on('request', async (request, response) => {
      const text = textFor(String(request.headers['x-api-key'] ?? ''));
      this.injectedCount += 1;
      if (request.url?.includes(this.refused)) {
        response.writeHead(403, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ statusCode: 403, message: [text, `no: ${text}`] }));
        return;
      }
      const answer = await fetch(new URL(request.url ?? '/', upstreamUrl)).catch(() => null);
      if (!answer) return void response.destroy();
      response.writeHead(answer.status, {
        'content-type': answer.headers.get('content-type') ?? 'application/json',
      });
      const body = await answer.text();
      response.end(JSON.stringify(JSON.parse(body), (_name, value: unknown) => injectText(value, text)));
    });
  }

  /** @param textFor returns the text for the received key */
  static async open(upstreamUrl: string, textFor: (key: string) => string): Promise<TextInjectingUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new TextInjectingUpstream(server, `http://127.0.0.1:${address.port}`, upstreamUrl, textFor);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Lists get items with the text. */
function injectText(value: unknown, text: string): unknown {
  if (!Array.isArray(value) || !value.every(isObject)) return value;
  const items = value.map((item) => ({
    ...item,
    ...('blockchainName' in item ? { blockchainName: `${item.blockchainName} ${text}` } : {}),
    note: { deep: [text].map((text) => `injected ${text}`) },
    [text]: text,
  }));
  const [first] = value;
  return first && 'blockNumber' in first ? [...items, { ...first, blockNumber: text }] : items;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
