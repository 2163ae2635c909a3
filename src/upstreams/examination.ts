import type { Checked } from '../lib/check-result.ts';
import { type Asked, diagnose, likelyUrls } from './causes.ts';
import { type Symptom, type Trial, type TrialQuestion, tryOut } from './symptom.ts';

/** An upstream to check, and the parameters of the calls. */
export interface Examinee {
  /** Name such as `metrics` or `nodes/validator-1`. */
  readonly name: string;
  readonly url: string;
  /** Setting that contains the URL. */
  readonly setting: string;
  readonly kind: Asked['kind'];
  readonly key: Asked['key'];
  /** Headers with the API key. Empty: none. */
  readonly headers: Readonly<Record<string, string>>;
  /** Timeout of one response, in ms. */
  readonly timeout: number;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** Result of a check of an upstream, with the offset by which its clock is ahead, in ms. Null: unknown. */
export interface Examined {
  readonly checked: readonly Checked[];
  readonly skew: number | null;
}

/** Sends one test request, with the API key unless other headers are given. */
export function trial(
  { url, headers, timeout, redact, signal }: Examinee,
  question: TrialQuestion,
  other: { url?: string; headers?: Examinee['headers'] } = {},
): Promise<Trial> {
  return tryOut(other.url ?? url, question, {
    headers: other.headers ?? headers,
    deadline: timeout,
    redact,
    signal,
  });
}

/** Returns the failed check for users: URL, cause and fix. */
export function fault(examinee: Examinee, question: TrialQuestion, symptom: Symptom, mend?: string): Checked {
  const { name, url, setting, kind, key, timeout } = examinee;
  const asked = new URL(url.replace(/\/$/, '') + question.path);
  const diagnosis = diagnose(symptom, { url: asked, setting, kind, key, timeout: timeout / 1000 });
  return {
    check: name,
    ok: false,
    found: `${asked.origin}${asked.pathname}: ${diagnosis.cause}`,
    mend: mend ?? diagnosis.mend,
  };
}

/**
 * Tries likely corrections of the URL and returns the fix. No API key is sent to them; a URL that requires a
 * key counts as working. Returns undefined if none works.
 */
export async function betterUrl(
  examinee: Examinee,
  question: TrialQuestion,
  symptom: Symptom,
): Promise<string | undefined> {
  const urls = likelyUrls(examinee.url, examinee.kind, symptom.location);
  const trials = await Promise.all(urls.map((url) => trial(examinee, question, { url, headers: {} })));
  const at = trials.findIndex(({ symptom: other }) => other === null || wantsKey(other));
  return at < 0 ? undefined : `set ${examinee.setting} to ${urls[at]}, where it answers`;
}

const wantsKey = ({ status, type }: Symptom) => (status === 401 || status === 403) && /json/.test(type);
