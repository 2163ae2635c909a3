import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** A member of a list as it is sent. */
export interface Member {
  /** Its JSON, letter by letter. */
  readonly json: string;
  /** Its stored key; null: it cannot be decoded. */
  readonly key: string | null;
  /** A field `mark` of this member only, if it must not be stored; null: it must be stored. */
  readonly mark: string | null;
}

/** The sent members of a complete list, and the number of each poison. */
export class ServedList {
  readonly dataset: string;
  /** The column that identifies its members. */
  readonly column: string;
  /** Members of the next responses. */
  members: readonly Member[] = [];
  /** A key had two values: missing members prove nothing. */
  contradicts = false;
  /** Number of completely sent lists. */
  sentCount = 0;
  /** The keys of the members to store, of all sent lists. */
  readonly sound = new Set<string>();
  /** Number of times that each poison was sent, by its mark. */
  readonly poisons = new Map<string, number>();

  constructor(dataset: string, column: string) {
    this.dataset = dataset;
    this.column = column;
  }

  /** The members from an index on, at most this many. */
  send(from: number, limit: number): { readonly text: string; readonly next: number | null } {
    const members = this.members.slice(from, from + limit);
    for (const { key, mark } of members) {
      if (mark !== null) this.poisons.set(mark, (this.poisons.get(mark) ?? 0) + 1);
      else if (key !== null) this.sound.add(key);
    }
    const next = from + limit < this.members.length ? from + limit : null;
    if (next === null) this.sentCount += 1;
    return { text: `[${members.map(({ json }) => json).join(',')}]`, next };
  }
}

export const COLLECTION = { chain: '43114', address: '0x54c800d2331e10467143911aabca092d68bf4166' };
const TOKENS = `/v1/chains/${COLLECTION.chain}/nfts/collections/${COLLECTION.address}/tokens`;

/**
 * A service in front of the sandbox with scripted lists of tokens, by pages, and of validators, by JSON-RPC. It records
 * what it sent.
 */
export class PoisonedUpstream {
  readonly url: string;
  readonly tokens = new ServedList('nft_tokens', 'token_id');
  readonly validators = new ServedList('validators', 'node_id');
  readonly #server: Server;
  readonly #upstreamUrl: string;

  private constructor(server: Server, url: string, upstreamUrl: string) {
    this.#server = server;
    this.url = url;
    this.#upstreamUrl = upstreamUrl;
    server.on('request', (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async open(upstreamUrl: string): Promise<PoisonedUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new PoisonedUpstream(server, `http://127.0.0.1:${address.port}`, upstreamUrl);
  }

  get lists(): readonly ServedList[] {
    return [this.tokens, this.validators];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#upstreamUrl);
    const sent = await textOf(request);
    const call: unknown = sent === '' ? null : JSON.parse(sent);
    const json = { 'content-type': 'application/json' };
    if (url.pathname === TOKENS) {
      const [from, limit] = ['pageToken', 'pageSize'].map((name) => Number(url.searchParams.get(name) ?? 0));
      const { text, next } = this.tokens.send(from ?? 0, limit || 100);
      const token = next === null ? '' : `,"nextPageToken":"${next}"`;
      response.writeHead(200, json).end(`{"tokens":${text}${token}}`);
    } else if (isValidatorsCall(call)) {
      const { text } = this.validators.send(0, this.validators.members.length);
      response.writeHead(200, json).end(`{"jsonrpc":"2.0","id":${call.id},"result":{"validators":${text}}}`);
    } else {
      const answer = await fetch(url, call === null ? {} : { method: 'POST', headers: json, body: sent });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(await answer.text());
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function isValidatorsCall(call: unknown): call is { readonly id: number } {
  return (
    typeof call === 'object' &&
    call !== null &&
    'id' in call &&
    'method' in call &&
    call.method === 'platform.getCurrentValidators'
  );
}
