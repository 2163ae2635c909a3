import type { AnnouncedLimit, RequestedPause } from './budget.ts';
import type { HttpResponse } from './http.ts';

/** Maximum pause that an upstream can request, in ms. */
const MAX_PAUSE_MS = 3_600_000;

/** Maximum number that is a period in seconds (31 years). Greater numbers are Unix times. */
const MAX_SPAN_S = 1e9;

/** Maximum number that is a Unix time in seconds. Greater numbers are Unix times in milliseconds. */
const MAX_UNIX_TIME_S = 1e11;

/** Matches for example `Wed, 21 Oct 2015 07:28:00 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/;

/** Matches for example `2026-01-31T12:00:00Z`. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Matches for example `6m0s`, `1.5s` or `250ms`. */
const SPAN = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;

/**
 * Returns the pause that a `Retry-After` header requests. Returns undefined if the header is missing or
 * invalid.
 * @param now clock of the recorder, in ms; the `Date` header of the response takes precedence
 */
export function retryAfter(answer: HttpResponse, now: number): RequestedPause | undefined {
  return pauseIn(answer, 'retry-after', now);
}

/**
 * Returns the limit that the headers `ratelimit-limit`, `ratelimit-policy` (such as `8000;w=60`),
 * `ratelimit-remaining` and `ratelimit-reset` announce. Returns null if there are none. A limit without a
 * window applies to one minute, as documented.
 * @param now clock of the recorder, in ms
 */
export function allowanceIn(answer: HttpResponse, now: number): AnnouncedLimit | null {
  const header = (name: string) => String(answer.headers[name] ?? '');
  const units = /^\d{1,12}/.exec(header('ratelimit-limit') || header('ratelimit-policy'))?.[0];
  const seconds = /w=(\d{1,8})/.exec(`${header('ratelimit-limit')} ${header('ratelimit-policy')}`)?.[1];
  const reset = header('ratelimit-remaining') === '0' ? pauseIn(answer, 'ratelimit-reset', now) : undefined;
  const exhausted = reset && reset.milliseconds > 0 ? reset : null;
  if (units === undefined && !exhausted) return null;
  return {
    limit: Number(units) > 0 ? { units: Number(units), seconds: Number(seconds ?? 60) } : null,
    exhausted,
  };
}

function pauseIn({ headers }: HttpResponse, name: string, now: number): RequestedPause | undefined {
  const text = String(headers[name] ?? '').trim();
  const sent = Date.parse(String(headers.date ?? ''));
  const milliseconds = millisecondsIn(text, Number.isFinite(sent) ? sent : now);
  if (milliseconds === undefined) return undefined;
  return {
    milliseconds: Math.min(Math.max(milliseconds, 0), MAX_PAUSE_MS),
    header: `${name}: ${text.slice(0, 60)}`,
  };
}

/**
 * Parses a period in seconds or with units, a Unix time, or a date, and returns the remaining time in ms.
 * Returns undefined if the text is none of these.
 */
function millisecondsIn(text: string, now: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number > MAX_UNIX_TIME_S) return number - now;
    return number > MAX_SPAN_S ? number * 1000 - now : number * 1000;
  }
  const span = SPAN.exec(text);
  if (span && text !== '') {
    const [hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = span
      .slice(1)
      .map((part) => Number(part ?? 0));
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
  }
  // Date.parse accepts almost any text that contains a number.
  const time = HTTP_DATE.test(text) || ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(time) ? time - now : undefined;
}
