import type { Checked } from '../lib/check-result.ts';
import { type Asked, diagnose, likelyUrls } from './causes.ts';
import { type Symptom, type Trial, type TrialQuestion, tryOut } from './symptom.ts';

/** What is examined, and how. */
export interface Examinee {
  /** Such as `metrics` or `nodes/validator-1`. */
  readonly name: string;
  readonly url: string;
  /** The setting that holds the URL. */
  readonly setting: string;
  readonly kind: Asked['kind'];
  readonly key: Asked['key'];
  /** What carries the key; empty: none is sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** What an examination found, and how far the upstream's clock is ahead, ms; null: not known. */
export interface Examined {
  readonly checked: readonly Checked[];
  readonly skew: number | null;
}

/** Asks a question of the examinee, with its key unless other headers are given. */
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

/** The fault as a person needs it: the URL, the cause, and the mend. */
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
 * Looks for a URL at which the question is answered, among those that people often mean, and says to set it.
 * @returns undefined where none answers. No key is sent to any of them: one that asks for a key answers, too
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
