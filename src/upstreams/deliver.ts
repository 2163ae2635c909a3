import { messageOf } from '../lib/errors.ts';
import { DeliveryFailure } from './delivery-failure.ts';
import { type FailureKind, UpstreamFailure, wordsOf } from './failure.ts';
import { type Answer, callOnce } from './http.ts';

/** The longest that one call to a channel may take, ms; less than its lease. */
const DEADLINE = 10_000;
/** Nothing that a channel answers is needed but its status, and a few words where it did not take what was sent. */
const MAX_BYTES = 256 * 1024;
/** The longest that a channel may ask us to stay away, ms. */
const LONGEST_WAIT = 300_000;

/** Nothing was sent in calls that end so. */
const NEVER_ARRIVED: ReadonlySet<FailureKind> = new Set<FailureKind>(['dns', 'refused', 'tls']);
/** The message itself is wrong: sending it again changes nothing. */
const REFUSED: ReadonlySet<number> = new Set([400, 414, 415, 422]);

const TOO_LARGE = 413;

/** One call to a channel. */
export interface ChannelCall {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: a GET. A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/**
 * Asks a channel over HTTP: one deadline for all of it, and no redirects.
 * @returns its answer, of a status 2xx, without its text
 * @throws DeliveryFailure when it did not take what was sent
 */
export async function callChannel(
  { url, headers = {}, body }: ChannelCall,
  signal: AbortSignal,
): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await callOnce({
      method: body === undefined ? 'GET' : 'POST',
      url: new URL(url),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      deadline: DEADLINE,
      maxBytes: MAX_BYTES,
      statusIsEnough: true,
      signal,
    });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    throw new DeliveryFailure('down', error.message, { mayHaveArrived: !NEVER_ARRIVED.has(error.kind) });
  }
  const { status, text } = answer;
  if (status >= 200 && status < 300) return answer;
  const words = `HTTP ${status}${text.trim() === '' ? '' : `: ${text.trim()}`}`;
  if (status >= 300 && status < 400)
    throw new DeliveryFailure('down', `${words}: redirects are not followed`);
  if (status === TOO_LARGE) throw new DeliveryFailure('too-large', words);
  throw new DeliveryFailure(REFUSED.has(status) ? 'refused' : 'down', words, {
    // A server that failed may have done half of it.
    mayHaveArrived: status >= 500,
    wait: waitOf(answer),
  });
}

/**
 * Why a channel did not take something, for logs and the database: without URLs, and short. Secrets are taken out first, while
 * the text is whole: the cut could leave a part of one, which nobody would know again.
 */
export const causeOf = (error: unknown, redact: (text: string) => string): string =>
  wordsOf(redact(messageOf(error)));

/** How long the answer asks us to stay away, ms; null: it does not. */
function waitOf({ status, headers }: Answer): number | null {
  const seconds = Number([headers['retry-after']].flat()[0]);
  return status === 429 && seconds > 0 ? Math.min(seconds * 1_000, LONGEST_WAIT) : null;
}
