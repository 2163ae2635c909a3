import type { CheckResult } from '../lib/check-result.ts';
import { type DiagnosisContext, diagnose, likelyUrls } from './causes.ts';
import { runTestRequest, type Symptom, type TestRequest, type TestRequestResult } from './symptom.ts';

/** An upstream to check, and the parameters of the calls. */
export interface CheckedUpstream {
  /** Name such as `metrics` or `nodes/validator-1`. */
  readonly name: string;
  readonly url: string;
  /** Setting that contains the URL. */
  readonly setting: string;
  readonly kind: DiagnosisContext['kind'];
  readonly key: DiagnosisContext['key'];
  /** Headers with the API key. Empty: none. */
  readonly headers: Readonly<Record<string, string>>;
  /** Timeout of one response, in ms. */
  readonly timeout: number;
  readonly redact: (text: string) => string;
  readonly signal: AbortSignal;
}

/** Result of a check of an upstream, with the offset by which its clock is ahead, in ms. Null: unknown. */
export interface UpstreamCheckResult {
  readonly checked: readonly CheckResult[];
  readonly skew: number | null;
}

/** Sends one test request, with the API key unless other headers are given. */
export function sendTestRequest(
  { url, headers, timeout, redact, signal }: CheckedUpstream,
  testRequest: TestRequest,
  other: { url?: string; headers?: CheckedUpstream['headers'] } = {},
): Promise<TestRequestResult> {
  return runTestRequest(other.url ?? url, testRequest, {
    headers: other.headers ?? headers,
    deadline: timeout,
    redact,
    signal,
  });
}

/** Returns the failed check for users: URL, cause and fix. */
export function createFailedCheck(
  examinee: CheckedUpstream,
  testRequest: TestRequest,
  symptom: Symptom,
  fix?: string,
): CheckResult {
  const { name, url, setting, kind, key, timeout } = examinee;
  const requestUrl = new URL(url.replace(/\/$/, '') + testRequest.path);
  const diagnosis = diagnose(symptom, { url: requestUrl, setting, kind, key, timeout: timeout / 1000 });
  return {
    check: name,
    ok: false,
    found: `${requestUrl.origin}${requestUrl.pathname}: ${diagnosis.cause}`,
    fix: fix ?? diagnosis.fix,
  };
}

/**
 * Tries likely corrections of the URL and returns the fix. No API key is sent to these URLs; a URL that
 * requires a key counts as working. Returns undefined if no URL works.
 */
export async function findWorkingUrl(
  examinee: CheckedUpstream,
  testRequest: TestRequest,
  symptom: Symptom,
): Promise<string | undefined> {
  const urls = likelyUrls(examinee.url, examinee.kind, symptom.location);
  const trials = await Promise.all(
    urls.map((url) => sendTestRequest(examinee, testRequest, { url, headers: {} })),
  );
  const at = trials.findIndex(({ symptom: other }) => other === null || requiresKey(other));
  return at < 0 ? undefined : `set ${examinee.setting} to ${urls[at]}, where the API responds`;
}

const requiresKey = ({ status, type }: Symptom) => (status === 401 || status === 403) && /json/.test(type);
