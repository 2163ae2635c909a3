import { isDatabaseUnavailable } from '../../db/connection-error.ts';
import { ReplicaUnavailableError } from '../../db/replica-unavailable.ts';
import { TooManyReadsError } from '../../db/semaphore.ts';
import { toErrorMessage } from '../../lib/errors.ts';
import { InvalidRequestError } from '../../reporting/relations/invalid-request.ts';

/** An error response (RFC 9457). */
export interface ApiProblem {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** All invalid parameters. */
  readonly problems?: InvalidRequestError['problems'];
  /** Time to wait before a retry, in s. */
  readonly retryAfter?: number;
}

/** Time to wait before a retry while the database is unavailable, in s. */
const RETRY_AFTER_SECONDS = 5;

/** Returns the error response for an error. */
export function problemOf(error: unknown): ApiProblem {
  const detail = toErrorMessage(error);
  if (error instanceof InvalidRequestError)
    return { status: 400, title: 'Invalid request', detail, problems: error.problems };
  if (error instanceof TooManyReadsError)
    return { status: 503, title: 'Too many concurrent reads', detail, retryAfter: error.retryAfter };
  if (error instanceof ReplicaUnavailableError)
    return { status: 503, title: 'The replica cannot be read', detail, retryAfter: RETRY_AFTER_SECONDS };
  if (isDatabaseUnavailable(error))
    return { status: 503, title: 'The database cannot be reached', detail, retryAfter: RETRY_AFTER_SECONDS };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (code === '57014' || (error instanceof Error && error.name === 'TimeoutError'))
    return {
      status: 504,
      title: 'The database took too long',
      detail:
        'ask for less: filter by the first columns of the key, sort by the key, or choose a shorter window',
    };
  // Values that PostgreSQL rejects, and queries without a result: no record at that moment, or a sum without
  // a meaning.
  if (/^22/.test(code)) {
    const hint = error instanceof Error && 'hint' in error && error.hint ? `; ${error.hint}` : '';
    return { status: 400, title: 'No such answer', detail: `${detail}${hint}` };
  }
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return { status, title: 'Invalid request', detail };
  return { status: 500, title: 'It failed', detail: 'the log of the recorder says why' };
}
