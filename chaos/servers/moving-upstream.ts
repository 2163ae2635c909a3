import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Random } from '../random.ts';

/** The place of a transaction, and its status. */
export interface TransactionVersion {
  readonly hash: string;
  readonly block: number;
  readonly status: string;
}

const NEWEST = 90_000_000;
/** Transactions stay so near to the newest block that every poll requests them again. */
const DEPTH = 15;

/** A service in front of the sandbox whose list of an address's transactions moves them to other blocks on request. */
export class MovingUpstream {
  readonly url: string;
  readonly #server: Server;
  readonly #upstreamUrl: string;
  readonly #random: Random;
  /** All its versions of each transaction, the last one last. */
  readonly #versions = new Map<string, TransactionVersion[]>();

  private constructor(
    server: Server,
    url: string,
    upstreamUrl: string,
    random: Random,
    transactions: number,
  ) {
    this.#server = server;
    this.url = url;
    this.#upstreamUrl = upstreamUrl;
    this.#random = random;
    for (let number = 0; number < transactions; number++) {
      const hash = `0x${number.toString(16).padStart(64, '0')}`;
      // The first one stays in the newest block, so that there is one.
      const block = number === 0 ? NEWEST : NEWEST - 1 - random.below(DEPTH);
      this.#versions.set(hash, [{ hash, block, status: '1' }]);
    }
    server.on('request', (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async open(upstreamUrl: string, random: Random, transactions: number): Promise<MovingUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new MovingUpstream(server, `http://127.0.0.1:${address.port}`, upstreamUrl, random, transactions);
  }

  /** Its current versions. */
  get now(): TransactionVersion[] {
    return [...this.#versions.values()].flatMap((versions) => versions.slice(-1));
  }

  /** Its earlier versions of each transaction, in order. */
  get before(): TransactionVersion[] {
    return [...this.#versions.values()].flatMap((versions) => versions.slice(0, -1));
  }

  /** Moves some of the transactions, also back to earlier places, or changes their status. @returns the number */
  move(): number {
    let moved = 0;
    for (const [hash, versions] of [...this.#versions].slice(1)) {
      if (this.#random.unit() < 0.5) continue;
      const last = versions.at(-1);
      const earlier = versions.at(-2);
      if (!last) continue;
      const next =
        earlier && this.#random.unit() < 0.3
          ? earlier
          : this.#random.unit() < 0.5
            ? { hash, block: NEWEST - 1 - ((NEWEST - last.block) % DEPTH), status: last.status }
            : { hash, block: last.block, status: last.status === '1' ? '0' : '1' };
      versions.push(next);
      moved += 1;
    }
    return moved;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.#upstreamUrl);
    if (url.pathname.endsWith('/transactions:listNative')) {
      const from = Number(url.searchParams.get('startBlock') ?? 0);
      const to = Number(url.searchParams.get('endBlock') ?? Number.POSITIVE_INFINITY);
      const transactions = this.now
        .filter(({ block }) => block >= from && block < to)
        .sort((a, b) => b.block - a.block)
        .map(({ hash, block, status }) => ({
          txHash: hash,
          txStatus: status,
          blockNumber: String(block),
          blockTimestamp: 1_700_000_000 + block - NEWEST,
          blockHash: `0x${block.toString(16).padStart(64, '0')}`,
          value: '1',
        }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ transactions }));
      return;
    }
    const answer = await fetch(url);
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  }
}
