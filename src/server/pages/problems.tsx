import type { Content } from './page.ts';
import { ErrorNotice } from './parts/problem.tsx';

/** An error for people and programs. */
export interface PageProblem {
  readonly status: number;
  readonly title: string;
  readonly what: string;
  readonly details?: readonly string[];
  /** The fix, or the work that continues in the meantime. */
  readonly advice?: string;
  /** Time to wait before a retry, in s. */
  readonly retryAfter?: number;
}

export const notThroughProxy: PageProblem = {
  status: 403,
  title: 'Forbidden',
  what: 'This server accepts requests only through the proxies in its configuration, and your request did not come through one.',
  advice:
    'Use the address of the proxy. The operator can add a proxy to server.trustedProxies, or set RECORDER_TOKEN.',
};

export const noToken: PageProblem = {
  status: 401,
  title: 'Unauthorized',
  what: 'a token is required: send "Authorization: Bearer TOKEN" with the value of RECORDER_TOKEN',
};

export const notFound = (path: string): PageProblem => ({
  status: 404,
  title: 'Page not found',
  what: `There is no page at ${path}.`,
  advice: 'The address may be misspelt, or the page was removed. The navigation above lists all pages.',
});

/**
 * Returns the problem of a request with invalid parameters.
 * @param details one line per invalid parameter, starting with the name of the parameter
 */
export const badRequest = (details: readonly string[]): PageProblem => ({
  status: 400,
  title: 'Bad request',
  what: details.length === 1 ? 'A parameter is invalid.' : 'Some parameters are invalid.',
  details,
  advice: 'Correct the address, or go back.',
});

export const tooBusy = (why: string, retryAfter: number): PageProblem => ({
  status: 503,
  title: 'Busy',
  what: `Too many concurrent reads: ${why}.`,
  advice: 'The recording continues: it does not wait for readers. Try again in a few seconds.',
  retryAfter,
});

export const databaseUnavailable = (why: string): PageProblem => ({
  status: 503,
  title: 'Database unavailable',
  what: 'The database does not respond.',
  details: [why],
  advice:
    'The recorder retries; no restart is needed. Nothing is stored until the database responds. Then the recorder fetches what the ' +
    'services still offer, and marks the rest as a permanent gap. "chain-recorder doctor" has details.',
  retryAfter: 10,
});

/**
 * Returns the problem of a query without a result within the timeout of a page. Whether the database is
 * unavailable or only slow is unknown.
 */
export const databaseLate = (why: string): PageProblem => ({
  ...databaseUnavailable(why),
  details: [
    why,
    'a query may also exceed this time limit while the machine is busy, such as in the first minute, or if tens of thousands of targets are watched (docs/explanation/performance.md)',
  ],
});

export const replicaUnavailable = (why: string): PageProblem => ({
  status: 503,
  title: 'Replica unavailable',
  what: 'The replica that pages read does not respond.',
  details: [why],
  advice:
    'The recording continues: it writes to the primary. Pages do not fall back to the primary, because the replica exists to keep their load ' +
    'off the primary. "chain-recorder status" and /metrics still report the recording; "chain-recorder doctor" has details.',
  retryAfter: 10,
});

export const tooSlow = (why: string): PageProblem => ({
  status: 503,
  title: 'Too slow',
  what: 'The query exceeded the time limit of a page.',
  details: [why],
  advice:
    'The recording continues: it does not wait for readers. Try again, or request less: a shorter time or fewer rows.',
  retryAfter: 30,
});

export const queueUnavailable = (why: string): PageProblem => ({
  status: 503,
  title: 'Queue unavailable',
  what: 'The queue does not respond.',
  details: [why],
  advice:
    'No data is lost: due work is planned from the database once the queue responds, and probes of nodes continue without ' +
    'the queue. A queue in Redis needs a running Redis at REDIS_URL. "chain-recorder doctor" has details.',
  retryAfter: 10,
});

export const refusedRequest = (status: number, why: string): PageProblem => ({
  status,
  title: 'Bad request',
  what: why,
  advice: 'Go back, or follow the navigation above.',
});

export const failed: PageProblem = {
  status: 500,
  title: 'Internal error',
  what: 'The recorder failed to render this page. This is a bug of the recorder; its log has details.',
  advice: 'The recording continues: it does not depend on pages.',
};

/** An error message, displayed instead of a part of a page. */
export function ProblemNotice({
  problem: { what, details = [], advice },
}: {
  readonly problem: PageProblem;
}) {
  return (
    <ErrorNotice what={what} details={details}>
      {advice && <p>{advice}</p>}
    </ErrorNotice>
  );
}

/**
 * Returns an error as a page. After a temporary error, the browser reloads the page until the request
 * succeeds.
 */
export function problemPage(problem: PageProblem): Content {
  const { title, status, retryAfter } = problem;
  return {
    title,
    ...(retryAfter === undefined ? {} : { live: retryAfter, instead: true }),
    body: (
      <>
        <h1>
          {title} <small>{status}</small>
        </h1>
        <ProblemNotice problem={problem} />
      </>
    ),
  };
}
