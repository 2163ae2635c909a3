import { schemaProblem } from '../db/migrate.ts';
import type { QueuesView } from '../jobs/queue-content.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { demands, isMetered } from '../reporting/reports/call-demand.ts';
import { diskUse } from '../reporting/reports/disk.ts';
import { forecast } from '../reporting/reports/forecast.ts';
import { readMyValidators } from '../reporting/reports/my-validators.ts';
import { nodesStatus } from '../reporting/reports/nodes/nodes-status.ts';
import { statusOf } from '../reporting/reports/status.ts';
import { memoizeWithTtl, proportionalTtl } from './memoize-with-ttl.ts';
import type { PageContext } from './pages/page.ts';
import { QueueUnavailableError } from './queue-unavailable.ts';
import type { ServerContext } from './server-context.ts';

const QUERY_TIMEOUT_MS = 3_000;
/** Cache time of most database queries, in ms. */
const CACHE_TTL_MS = 1_000;

/** Cache time of values that change slowly, in ms. */
const SLOW_CACHE_TTL_MS = 60_000;
const NODES_CACHE_TTL_MS = 5_000;
const NODES_TIMEOUT_MS = 8_000;
/** Cache time of the user's validators, in ms. The validators are polled once a minute. */
const VALIDATORS_CACHE_TTL_MS = 10_000;

/**
 * Cached reads for pages, monitoring and badges. The number of queries does not depend on the number of
 * requests.
 */
export interface CachedReads
  extends Pick<PageContext, 'status' | 'demands' | 'disk' | 'queues' | 'nodes' | 'validators'> {
  /** Returns the problems of the database and of the queue. The recorder is ready if there are none. */
  readonly problems: () => Promise<readonly string[]>;
}

/**
 * Creates the cached reads. A request waits for a read until a timeout. The read continues after the timeout,
 * so that a later request gets the result from the cache.
 */
export function cachedReads({
  sql,
  gate,
  clock,
  queueReachable,
  queues,
  budgets,
  recorder,
  watched,
  upstreams,
  rewards,
  site,
}: ServerContext): CachedReads {
  const status = memoizeWithTtl(() => statusOf(sql, budgets), proportionalTtl(CACHE_TTL_MS));
  const needed = memoizeWithTtl(
    async () => demands(await forecast(sql, watched.filter(isMetered), clock()), { upstreams }),
    proportionalTtl(SLOW_CACHE_TTL_MS),
  );
  const queueAnswers = memoizeWithTtl(async () => queueReachable(), 0);
  return {
    status: () => withQueryTimeout(status()),
    demands: () => withQueryTimeout(needed()),
    disk: memoizeWithTtl(() => withQueryTimeout(diskUse(sql, recorder.directory)), SLOW_CACHE_TTL_MS),
    queues: queuesOf(queues),
    nodes: memoizeWithTtl(
      () => gate.read((reads) => nodesStatus(reads, site, clock()), AbortSignal.timeout(NODES_TIMEOUT_MS)),
      proportionalTtl(NODES_CACHE_TTL_MS),
    ),
    validators: memoizeWithTtl(
      () => gate.read((reads) => readMyValidators(reads, rewards), AbortSignal.timeout(NODES_TIMEOUT_MS)),
      proportionalTtl(VALIDATORS_CACHE_TTL_MS),
    ),
    problems: memoizeWithTtl(async () => {
      const found = await Promise.all([
        problemOf('the database', schemaProblem(sql)),
        problemOf(
          'the queue',
          queueAnswers().then(() => null),
        ),
      ]);
      return found.filter((problem) => problem !== null);
    }, CACHE_TTL_MS),
  };
}

/** Returns the problem that a check found, or the error of the check; null if there is neither. */
const problemOf = (name: string, check: Promise<string | null>): Promise<string | null> =>
  withQueryTimeout(check).catch((error: unknown) => `${name}: ${toErrorMessage(error)}`);

/**
 * Adds caching and a timeout to the queries of the queues. After a timeout, the queue is reported as
 * unavailable. The contents are not queried again before the previous query has ended.
 */
function queuesOf(view: QueuesView): QueuesView {
  const answered = <T>(answer: Promise<T>) =>
    withQueryTimeout(answer).catch((error: unknown) => {
      throw new QueueUnavailableError(toErrorMessage(error));
    });
  const readOnce = memoizeWithTtl(() => view.readContents(), 0);
  const readContents = memoizeWithTtl(() => answered(readOnce()), CACHE_TTL_MS);
  return {
    readContents,
    jobs: async (...parameters) => {
      await readContents();
      return answered(view.jobs(...parameters));
    },
  };
}

/**
 * Adds a timeout of {@link QUERY_TIMEOUT_MS} to a query.
 * @throws DOMException (TimeoutError) after the timeout; the query continues
 */
export async function withQueryTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new DOMException(`no response within ${QUERY_TIMEOUT_MS} ms`, 'TimeoutError')),
      QUERY_TIMEOUT_MS,
    );
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
