import type postgres from 'postgres';
import { toErrorMessage } from '../lib/errors.ts';
import type { QueueBackend, RecorderQueue } from './backend.ts';
import { jobStates } from './queue-content.ts';

/** Observed state of a queue. */
export interface QueueState {
  readonly queue: string;
  /** Number of waiting jobs; null if the queue did not respond. */
  readonly waiting: number | null;
  /** Number of active jobs; null if the queue did not respond. */
  readonly active: number | null;
  /** Reason why the queue processes no jobs. Null: no problem. */
  readonly error: string | null;
}

/** Timeout for the response of a queue, in ms. */
const RESPONSE_TIMEOUT_MS = 3_000;
const NO_ANSWER = {
  redis: 'Redis does not respond: start Redis, or correct REDIS_URL',
  postgres: 'the queue does not respond: PostgreSQL is busy or failing',
};
const PAUSED =
  'the queue is paused, so that no job is started: resume the queue with the tool that paused it';

/**
 * Repeated observation of a queue. A check waits for an earlier observation without a response, so that at
 * most one observation is in progress.
 */
export class QueueWatch {
  readonly #name: string;
  readonly #queue: RecorderQueue;
  readonly #kind: QueueBackend['kind'];
  #pending: Promise<QueueState> | null = null;

  /** @param name label of the queue: `polls` or `heals` */
  constructor(name: string, queue: RecorderQueue, kind: QueueBackend['kind']) {
    this.#name = name;
    this.#queue = queue;
    this.#kind = kind;
  }

  /** Returns the state of the queue. A missing response also results in a state. */
  async check(): Promise<QueueState> {
    this.#pending ??= this.#query().finally(() => {
      this.#pending = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(resolve, RESPONSE_TIMEOUT_MS, NO_ANSWER[this.#kind]);
    });
    const found = await Promise.race([
      this.#pending.catch((error: unknown) => `the queue does not respond: ${toErrorMessage(error)}`),
      late,
    ]);
    clearTimeout(timer);
    return typeof found === 'string'
      ? { queue: this.#name, waiting: null, active: null, error: found }
      : found;
  }

  async #query(): Promise<QueueState> {
    const [paused, refusal, { active = 0, ...waiting }] = await Promise.all([
      this.#queue.isPaused(),
      this.#queue.refusal(),
      this.#queue.getJobCounts(...jobStates),
    ]);
    return {
      queue: this.#name,
      waiting: Object.values(waiting).reduce((sum, jobs) => sum + jobs, 0),
      active,
      error: refusal ?? (paused ? PAUSED : null),
    };
  }
}

/** Stores the states of the queues, for readers without access to the queue. */
export async function storeQueueStates(
  sql: postgres.Sql,
  recorder: string,
  found: readonly QueueState[],
): Promise<void> {
  await sql`
    insert into recorder.queues as q (recorder, queue, waiting, active, error, error_since, seen_at)
    select ${recorder}, u.queue, u.waiting, u.active, u.error, case when u.error is not null then now() end, now()
    from unnest(${found.map(({ queue }) => queue)}::text[], ${found.map(({ waiting }) => waiting)}::bigint[],
      ${found.map(({ active }) => active)}::bigint[], ${found.map(({ error }) => error)}::text[])
      as u(queue, waiting, active, error)
    on conflict (recorder, queue) do update set waiting = coalesce(excluded.waiting, q.waiting),
      active = coalesce(excluded.active, q.active), error = excluded.error, seen_at = excluded.seen_at,
      error_since = case when excluded.error is not null then coalesce(q.error_since, excluded.seen_at) end`;
}
