import type { Content } from './page.ts';
import { ErrorNotice } from './parts/problem.tsx';

/** An error for people and programs. */
export interface PageProblem {
  readonly status: number;
  readonly title: string;
  readonly what: string;
  readonly details: readonly string[];
  /** The fix, or what continues in the meantime. */
  readonly advice: string;
  /** Time to wait before a retry, in s. */
  readonly retryAfter?: number;
}

export const notThroughProxy: PageProblem = {
  status: 403,
  title: 'Forbidden',
  what: 'This server answers to the proxies that its configuration names, and you do not come through one.',
  details: [],
  advice:
    'Ask through the proxy. Who keeps the recorder can name another one in server.trustedProxies, or set RECORDER_TOKEN.',
};

export const noToken: PageProblem = {
  status: 401,
  title: 'Unauthorized',
  what: 'this needs the token: send "Authorization: Bearer TOKEN" with the value of RECORDER_TOKEN',
  details: [],
  advice: '',
};

export const notFound = (path: string): PageProblem => ({
  status: 404,
  title: 'Page not found',
  what: `There is no page at ${path}.`,
  details: [],
  advice: 'It may have been removed or misspelt. The navigation above leads to everything there is.',
});

/** @param problems one line each, starting with the parameter */
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
  details: [],
  advice: 'The recording continues: it does not wait for readers. Try again in a few seconds.',
  retryAfter,
});

export const databaseUnavailable = (why: string): PageProblem => ({
  status: 503,
  title: 'Database unavailable',
  what: 'The database does not respond.',
  details: [why],
  advice:
    'The recorder keeps trying; no restart is needed. Nothing is written meanwhile. When the database is back, what the ' +
    'services still offer is fetched, and what cannot be fetched any more becomes a gap that says so. "chain-recorder doctor" tells more.',
  retryAfter: 10,
});

/** The database is unavailable, or a query takes longer than a page waits: which one is unknown. */
export const databaseLate = (why: string): PageProblem => {
  const away = databaseUnavailable(why);
  return {
    ...away,
    details: [
      why,
      'where tens of thousands of targets are watched, a database that is there may take longer (docs/explanation/scale.md)',
    ],
  };
};

export const replicaUnavailable = (why: string): PageProblem => ({
  status: 503,
  title: 'Replica unavailable',
  what: 'The replica that pages read does not respond.',
  details: [why],
  advice:
    'The recording continues: it writes to the primary. Pages do not turn to it by themselves, because the copy is there to keep their load ' +
    'away from it. "chain-recorder status" and /metrics still report the recording; "chain-recorder doctor" has details.',
  retryAfter: 10,
});

export const tooSlow = (why: string): PageProblem => ({
  status: 503,
  title: 'Too slow',
  what: 'The database did not work this out in the time that a page has.',
  details: [why],
  advice:
    'The recording continues: it does not wait for readers. Try again, or request less: a shorter time or fewer rows.',
  retryAfter: 30,
});

export const queueUnavailable = (why: string): PageProblem => ({
  status: 503,
  title: 'No queue',
  what: 'The queue gives no answer.',
  details: [why],
  advice:
    'Nothing is lost: what is due meanwhile is planned from the database when the queue is back, and probes of nodes continue without ' +
    'it. A queue in Redis needs a Redis that runs and that REDIS_URL names. "chain-recorder doctor" tells more.',
  retryAfter: 10,
});

export const refusedRequest = (status: number, why: string): PageProblem => ({
  status,
  title: 'Bad request',
  what: why,
  details: [],
  advice: 'Go back, or follow the navigation above.',
});

export const failed: PageProblem = {
  status: 500,
  title: 'This page failed',
  what: 'The recorder could not make this page. That is a fault of the recorder, and its log says more.',
  details: [],
  advice: 'The recording continues: it does not depend on pages.',
};

/** An error in place of a part of a page. */
export function ProblemNotice({ problem: { what, details, advice } }: { readonly problem: PageProblem }) {
  return (
    <ErrorNotice what={what} details={details}>
      <p>{advice}</p>
    </ErrorNotice>
  );
}

/** Returns an error as a page. After a temporary error the page reloads until it succeeds. */
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
