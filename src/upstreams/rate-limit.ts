import type { Allowance } from './budget.ts';
import type { Answer } from './http.ts';

/** The longest wait that counts as a rate limit, ms. */
const LONGEST = 3_600_000;

/** Such as `Wed, 21 Oct 2015 07:28:00 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/;

/** Milliseconds of a Retry-After header, in seconds or as a date; undefined where it is absent or no time at all. */
export function retryAfter({ headers }: Answer): number | undefined {
  const header = String(headers['retry-after'] ?? '').trim();
  if (header === '') return undefined;
  // Date.parse accepts almost any text that contains a number.
  const date = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1000 : date - Date.now();
  return Number.isFinite(milliseconds) ? Math.min(Math.max(milliseconds, 0), LONGEST) : undefined;
}

/**
 * The allowance in an answer's `ratelimit-limit`, `ratelimit-policy` (such as `8000;w=60`), `ratelimit-remaining` and
 * `ratelimit-reset` headers; null where there are none. A limit without a window is one of a minute, as documented.
 */
export function allowanceIn({ headers }: Answer): Allowance | null {
  const header = (name: string) => String(headers[name] ?? '');
  const units = /^\d{1,12}/.exec(header('ratelimit-limit') || header('ratelimit-policy'))?.[0];
  const seconds = /w=(\d{1,8})/.exec(`${header('ratelimit-limit')} ${header('ratelimit-policy')}`)?.[1];
  const reset = Number(header('ratelimit-reset') || Number.NaN);
  const exhausted = header('ratelimit-remaining') === '0' && Number.isFinite(reset) && reset > 0;
  if (units === undefined && !exhausted) return null;
  return {
    limit: Number(units) > 0 ? { units: Number(units), seconds: Number(seconds ?? 60) } : null,
    exhaustedFor: exhausted ? Math.min(reset * 1000, LONGEST) : null,
  };
}
