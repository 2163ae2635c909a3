import { once } from 'node:events';
import { createServer, type Server, type Socket, connect as tcpConnect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresMessages } from './postgres-messages.ts';

/** Handling of the bytes of every connection. */
type Weather =
  | { readonly kind: 'fair' }
  /** Responses are delayed. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Nothing is forwarded any more, in either direction, and no connection ends. */
  | { readonly kind: 'black-hole' }
  /** New connections are accepted, and closed at once. */
  | { readonly kind: 'closing' }
  /** New connections are refused. */
  | { readonly kind: 'down' };

/**
 * Action on one execution of a statement: `lose` forwards it and drops the response with the connection; `cut-before`
 * closes the connection first; `mark` forwards it and stores the connection for {@link TcpProxy.silenceMarked}.
 */
export type Decide = (statement: string) => 'forward' | 'lose' | 'cut-before' | 'mark';

/** A TCP proxy that can inject faults. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** The target port of new connections. */
  target: number;
  #weather: Weather = { kind: 'fair' };
  #cutAfter = Number.POSITIVE_INFINITY;
  #decide: Decide | null = null;
  readonly #marked = new Set<Pair>();
  readonly #silent = new WeakSet<Pair>();
  /** Number of opened connections, including refused ones. */
  opened = 0;

  private constructor(server: Server, port: number, target: number) {
    this.#server = server;
    this.port = port;
    this.target = target;
    server.on('connection', (client) => this.#accept(client));
  }

  /** Opens a proxy in front of a port of this machine. */
  static async open(target: number): Promise<TcpProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    return new TcpProxy(server, address.port, target);
  }

  /** A URL with its host and port replaced by the proxy's. */
  before(url: string): string {
    const through = new URL(url);
    through.hostname = '127.0.0.1';
    through.port = String(this.port);
    return through.href;
  }

  set weather(weather: Weather) {
    this.#weather = weather;
    if (weather.kind === 'fair') for (const pair of this.#pairs) pair.thaw();
  }

  get weather(): Weather {
    return this.#weather;
  }

  /** Closes each connection that was opened from now on after this many bytes from the server. */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes;
  }

  /** Calls a function for the action on every PostgreSQL statement; null forwards all. */
  decide(decide: Decide | null): void {
    this.#decide = decide;
  }

  /** Drops all later responses on the marked connections, which stay open. @returns their number */
  silenceMarked(): number {
    const marked = [...this.#marked].filter((pair) => this.#pairs.has(pair));
    for (const pair of marked) this.#silent.add(pair);
    this.#marked.clear();
    return marked.length;
  }

  /** Drops all later responses on the current connections, which stay open; new ones work. @returns their number */
  silence(): number {
    for (const pair of this.#pairs) this.#silent.add(pair);
    return this.#pairs.size;
  }

  /** Resets all current connections. @returns their number */
  reset(): number {
    const count = this.#pairs.size;
    for (const pair of this.#pairs) pair.destroy();
    return count;
  }

  /** Closes all current connections, like a server that stops. @returns their number */
  end(): number {
    const count = this.#pairs.size;
    for (const pair of this.#pairs) pair.end();
    return count;
  }

  /** Reads nothing more on the current connections, not even their end, like a stalled machine. */
  stall(): void {
    for (const pair of this.#pairs) pair.stall();
  }

  async close(): Promise<void> {
    this.reset();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    this.opened += 1;
    if (this.#weather.kind === 'down') {
      client.resetAndDestroy();
      return;
    }
    if (this.#weather.kind === 'closing') {
      client.on('error', () => {});
      client.resume().end();
      return;
    }
    const server = tcpConnect(this.target, '127.0.0.1');
    const pair = new Pair(client, server);
    this.#pairs.add(pair);
    pair.ended = () => this.#pairs.delete(pair);
    const messages = new PostgresMessages();
    let remainingBytes = this.#cutAfter;
    let losing = false;
    client.on('data', (chunk) => {
      const decide = this.#decide;
      const verdicts = messages.read(chunk).map((statement) => decide?.(statement) ?? 'forward');
      if (verdicts.includes('cut-before')) return pair.destroy();
      if (verdicts.includes('lose')) losing = true;
      if (verdicts.includes('mark')) this.#marked.add(pair);
      pair.pass(client, server, chunk, this.#weather.kind === 'black-hole');
    });
    server.on('data', (chunk) => {
      remainingBytes -= chunk.length;
      // The response arrived, so the statement is complete: now it is lost.
      if (losing || remainingBytes < 0) return pair.destroy();
      if (this.#silent.has(pair)) return;
      const weather = this.#weather;
      if (weather.kind === 'delay')
        delay(weather.milliseconds).then(() => pair.pass(server, client, chunk, false));
      else pair.pass(server, client, chunk, weather.kind === 'black-hole');
    });
  }
}

/** A client's connection and the corresponding one to the server. */
class Pair {
  readonly #client: Socket;
  readonly #server: Socket;
  #buffered: (() => void)[] = [];
  ended = () => {};

  constructor(client: Socket, server: Socket) {
    this.#client = client;
    this.#server = server;
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on('error', () => this.destroy());
      socket.on('close', () => this.destroy());
    }
  }

  /** Writes, or buffers while the proxy holds data. */
  pass(from: Socket, to: Socket, chunk: Buffer, hold: boolean): void {
    const write = () => {
      if (to.destroyed || to.write(chunk)) return;
      from.pause();
      to.once('drain', () => from.resume());
    };
    if (hold) this.#buffered.push(write);
    else write();
  }

  /** Writes the buffered data. */
  thaw(): void {
    for (const write of this.#buffered.splice(0)) write();
  }

  stall(): void {
    for (const socket of [this.#client, this.#server]) socket.pause();
  }

  /** Closes the client's side; the other one follows once the client has closed it, too. */
  end(): void {
    this.#client.end();
  }

  destroy(): void {
    if (!this.#client.destroyed) this.#client.resetAndDestroy();
    this.#server.destroy();
    this.ended();
  }
}
