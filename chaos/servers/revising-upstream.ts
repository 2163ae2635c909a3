import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Random } from '../random.ts';

/** A requested series. */
interface SeriesTarget {
  readonly chainId: string;
  readonly metric: string;
  readonly timeInterval: string;
}

/** One response: the points by timestamp (Unix seconds), and its time (ms). */
interface RevisedAnswer {
  readonly at: number;
  readonly points: ReadonlyMap<number, string>;
}

const HOUR = 3_600;

/**
 * A metrics service that revises values at every call: points are revised, return to an earlier value, vanish and
 * reappear. It keeps all its responses.
 */
export class RevisingUpstream {
  readonly url: string;
  readonly #server: Server;
  readonly #answers = new Map<string, RevisedAnswer[]>();
  readonly #targets = new Map<string, SeriesTarget>();
  readonly #values = new Map<string, Map<number, string[]>>();
  readonly #random: Random;
  readonly #points: number;
  readonly #clock: () => number;
  readonly #listeners: (() => void)[] = [];
  /** The share of points that each response changes. */
  readonly #changeShare: number;
  /** Complete responses that were sent. */
  answered = 0;
  changed = 0;

  private constructor(server: Server, url: string, plan: RevisingPlan) {
    this.#server = server;
    this.url = url;
    this.#random = plan.random;
    this.#points = plan.points;
    this.#changeShare = plan.changeShare;
    this.#clock = plan.clock ?? Date.now;
    server.on('request', (request, response) => {
      const body = this.#answer(new URL(request.url ?? '/', url));
      if (this.#random.unit() < plan.faults) {
        this.#forgetLast();
        response.writeHead(503).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      for (const listener of this.#listeners.splice(0)) listener();
    });
  }

  static async open(plan: RevisingPlan): Promise<RevisingUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return new RevisingUpstream(server, `http://127.0.0.1:${address.port}`, plan);
  }

  get targets(): readonly SeriesTarget[] {
    return [...this.#targets.values()];
  }

  /** The last response for a target within a time (ms, both included). */
  answerWithin(target: SeriesTarget, from: number, to: number): RevisedAnswer | undefined {
    return this.#answers.get(nameOf(target))?.findLast(({ at }) => at >= from && at <= to);
  }

  /** Resolves as soon as the next response is being sent, before a client can have read it. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#listeners.push(resolve);
    });
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #last: RevisedAnswer[] = [];

  #forgetLast(): void {
    this.#last.pop();
  }

  #answer(url: URL): string {
    const [, chainId = '', metric = ''] =
      /^\/v2\/chains\/([^/]+)\/metrics\/([^/]+)$/.exec(url.pathname) ?? [];
    const target = { chainId, metric, timeInterval: url.searchParams.get('timeInterval') ?? 'hour' };
    const name = nameOf(target);
    this.#targets.set(name, target);
    const all = this.#values.get(name) ?? new Map<number, string[]>();
    this.#values.set(name, all);
    const now = this.#clock();
    const newest = Math.floor(now / 1000 / HOUR) * HOUR;
    const from = Number(url.searchParams.get('startTimestamp') ?? 0);
    const to = Number(url.searchParams.get('endTimestamp') ?? newest);
    const points = new Map<number, string>();
    for (let number = 1; number <= this.#points; number++) {
      const timestamp = newest - number * HOUR;
      const value = this.#next(all, timestamp);
      if (value !== null && timestamp >= from && timestamp <= to) points.set(timestamp, value);
    }
    const answers = this.#answers.get(name) ?? [];
    this.#answers.set(name, answers);
    answers.push({ at: now, points });
    this.#last = answers;
    this.answered += 1;
    const results = [...points].map(([timestamp, value]) => `{"timestamp":${timestamp},"value":${value}}`);
    return `{"results":[${results.join(',')}]}`;
  }

  /** The next value of a point: unchanged, new, an earlier one, or none (null). */
  #next(all: Map<number, string[]>, timestamp: number): string | null {
    const history = all.get(timestamp) ?? [];
    all.set(timestamp, history);
    const random = this.#random;
    const before = history.at(-1) ?? null;
    if (history.length > 0 && random.unit() >= this.#changeShare) return before === REMOVED ? null : before;
    this.changed += 1;
    const draw = random.unit();
    const value =
      draw < 0.15 && history.length > 0
        ? REMOVED
        : draw < 0.4 && history.length > 1
          ? random.pick(history)
          : String(random.below(1_000_000));
    history.push(value);
    return value === REMOVED ? null : value;
  }
}

const REMOVED = 'removed';

interface RevisingPlan {
  readonly random: Random;
  /** Hours in each answer. */
  readonly points: number;
  readonly changeShare: number;
  /** The share of calls that are answered with a 503. */
  readonly faults: number;
  readonly clock?: () => number;
}

const nameOf = ({ chainId, metric, timeInterval }: SeriesTarget) => `${chainId} ${metric} ${timeInterval}`;
