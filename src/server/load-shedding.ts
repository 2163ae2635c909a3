import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ReadsBusy } from '../db/semaphore.ts';
import { Allowance, type AllowanceLimits } from './allowance.ts';
import { WATCHER_PATHS } from './connections.ts';

/** How requests share a process with other work. */
export interface PaceLimits extends AllowanceLimits {
  /** The most that count at once. */
  readonly atOnce: number;
  /** The longest that a request counts, ms: what takes longer mostly waits for the database. */
  readonly counted: number;
  /** How long a request may wait for its turn, ms. */
  readonly patience: number;
  /** The most that may wait. */
  readonly waiting: number;
}

/** A person who opens one page after another stays within the reserve. */
const READERS = { atOnce: 4, reserve: 2_000, counted: 250, patience: 10_000, waiting: 1_000 };
/** Programs that watch the recorder, beside whoever reads. */
const WATCHERS = { ...READERS, reserve: 500 };
/** The share of the process's time: while it records, while it could at any time, and where it never does. */
const SHARES = {
  readers: { recording: 0.25, waiting: 0.75, never: 1 },
  watchers: { recording: 0.05, waiting: 0.1, never: 1 },
} as const;

/** The soonest that waiting requests are looked after again, ms. */
const SOON = 5;
/** After how many seconds to ask again what was refused. */
const RETRY_AFTER = 10;

/**
 * Paces every request of a server.
 * @param recording whether the process records just now: requests leave it most of its time then; null: it never does
 * @returns the pace of readers, for what goes on for longer than a request usually does
 */
export function paceRequests(server: FastifyInstance, recording: (() => boolean) | null): Pace {
  const shareOf = (shares: (typeof SHARES)[keyof typeof SHARES]) => () =>
    recording ? shares[recording() ? 'recording' : 'waiting'] : shares.never;
  const atOnce = recording ? READERS.atOnce : Number.POSITIVE_INFINITY;
  const readers = new Pace({ ...READERS, atOnce, share: shareOf(SHARES.readers) });
  const watchers = new Pace({ ...WATCHERS, atOnce, share: shareOf(SHARES.watchers) });
  server.addHook('onRequest', (request, reply, begin) => {
    const pace = WATCHER_PATHS.test(request.url) ? watchers : readers;
    pace.admit(request, reply, begin);
  });
  return readers;
}

/**
 * Lets requests begin only as far as their share of the process's time goes, one in each turn of the event loop: what else the process
 * does, such as recording, goes on. Whoever asks is served in turn with others who ask, and in the order of what was asked. A request that
 * waits too long, or that finds too many waiting, is refused as busy.
 */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #allowance: Allowance;
  /** What waits, by who asks: the first line is next. */
  readonly #lines = new Map<string, Set<Waiting>>();
  #waiting = 0;
  #underWay = 0;
  #pending = false;

  constructor(limits: PaceLimits) {
    this.#limits = limits;
    this.#allowance = new Allowance(limits);
  }

  /** Has a request wait for its turn. @param begin is called with an error where it is refused, and not at all where who asked is gone */
  admit(
    { socket: { remoteAddress = '' } }: FastifyRequest,
    { raw }: FastifyReply,
    begin: (refused?: ReadsBusy) => void,
  ): void {
    const { leave } = this.#join(remoteAddress, (refused) => {
      if (!refused) raw.once('close', this.#begin());
      begin(refused);
    });
    raw.once('close', leave);
  }

  /** Waits for a turn of what goes on for long, such as a file. @returns what ends it. @throws ReadsBusy */
  turn(line: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.#join(line, (refused) => (refused ? reject(refused) : resolve(this.#begin())));
    });
  }

  #join(line: string, go: Waiting['go']): { leave(): void } {
    const { waiting, patience } = this.#limits;
    if (this.#waiting >= waiting) {
      go(new ReadsBusy(`${waiting} requests wait`, RETRY_AFTER));
      return { leave: () => {} };
    }
    const one: Waiting = {
      go: (refused) => {
        leave();
        go(refused);
      },
    };
    const leave = () => {
      clearTimeout(timer);
      const others = this.#lines.get(line);
      if (!others?.delete(one)) return;
      this.#waiting -= 1;
      if (others.size === 0) this.#lines.delete(line);
    };
    // What came at once is not refused at once.
    const timer = setTimeout(
      () => one.go(new ReadsBusy(`no turn came within ${patience / 1000} s`, RETRY_AFTER)),
      patience * (0.8 + Math.random() * 0.2),
    );
    const others = this.#lines.get(line) ?? new Set();
    this.#lines.set(line, others.add(one));
    this.#waiting += 1;
    this.#look();
    return { leave };
  }

  /** Counts a request from now on. @returns what ends it */
  #begin(): () => void {
    this.#allowance.begin(performance.now());
    this.#underWay += 1;
    let over = false;
    const end = () => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      this.#allowance.end(performance.now());
      this.#underWay -= 1;
      this.#look();
    };
    const timer = setTimeout(end, this.#limits.counted);
    return end;
  }

  /** Lets the next one begin as soon as it may. */
  #look(): void {
    if (this.#pending || this.#waiting === 0 || this.#underWay >= this.#limits.atOnce) return;
    this.#pending = true;
    const next = () => {
      this.#pending = false;
      if (this.#allowance.wait(performance.now()) === 0) this.#next();
      this.#look();
    };
    const wait = this.#allowance.wait(performance.now());
    if (wait === 0) setImmediate(next);
    else setTimeout(next, Math.max(SOON, wait));
  }

  #next(): void {
    const [found] = this.#lines;
    if (!found) return;
    const [line, waiting] = found;
    const [one] = waiting;
    // Behind the other lines.
    this.#lines.delete(line);
    this.#lines.set(line, waiting);
    one?.go();
  }
}

/** Somebody who waits for a turn. */
interface Waiting {
  go(refused?: ReadsBusy): void;
}
