import type { CheckResult } from '../lib/check-result.ts';
import {
  type CheckedUpstream,
  createFailedCheck,
  findWorkingUrl,
  sendTestRequest,
  type UpstreamCheckResult,
} from './examination.ts';
import type { Symptom, TestRequest, TestRequestResult } from './symptom.ts';

/** A test request to a service. */
export interface ServiceTestRequest extends TestRequest {
  /** Name of the list in the response. */
  readonly list: string;
  /** Subject of the request and its setting, such as chain 43114 and `watch.chains[0]`. */
  readonly about?: { readonly what: string; readonly setting: string };
}

/** Common headers for API keys. */
const KEY_HEADERS = ['x-glacier-api-key', 'x-api-key', 'x-data-api-key'];

/**
 * Checks a service by one request, or by one per configured subject. Stops at the first failure of the
 * service itself.
 */
export async function checkService(
  examinee: CheckedUpstream,
  testRequests: readonly ServiceTestRequest[],
): Promise<UpstreamCheckResult> {
  const unsent = checkKeySent(examinee);
  const unknown: CheckResult[] = [];
  let took: number | null = null;
  let skew: number | null = null;
  for (const testRequest of testRequests) {
    const result = await sendTestRequest(examinee, testRequest);
    skew ??= result.skew;
    const symptom = result.symptom ?? findMissingList(result, testRequest.list);
    if (symptom === null) took ??= result.symptom === null ? result.took : null;
    else if (testRequest.about && isUnknownSubject(symptom))
      unknown.push(createUnknownSubjectCheck(examinee, testRequest.about, symptom));
    else {
      const fix =
        (await findKeyHeader(examinee, testRequest, symptom)) ??
        (await findServiceUrl(examinee, testRequest, symptom));
      return { checked: [...unsent, createFailedCheck(examinee, testRequest, symptom, fix)], skew };
    }
  }
  const fine = { check: examinee.name, ok: true, found: `${examinee.url} answered in ${took} ms` };
  return { checked: [...unsent, ...unknown, ...(took === null ? [] : [fine])], skew };
}

/**
 * Returns a failed check if an API key is set but not sent. The failure is reported even if the service
 * responds without the key.
 */
function checkKeySent({ name, key, setting }: CheckedUpstream): CheckResult[] {
  if (!key?.set || key.header !== undefined) return [];
  const header = setting.replace(/url$/, 'apiKeyHeader');
  return [
    {
      check: name,
      ok: false,
      found: `${key.variable} is set and not sent, because ${header} is missing`,
      fix: `set ${header} to the header that the service names, such as x-glacier-api-key; or unset ${key.variable}`,
    },
  ];
}

/** Returns a symptom if a JSON response does not have the expected list. */
function findMissingList({ body, symptom }: TestRequestResult, list: string): Symptom | null {
  if (symptom !== null || (typeof body === 'object' && body !== null && list in body)) return null;
  const words = `an answer without "${list}"`;
  return {
    kind: 'malformed',
    failed: null,
    code: '',
    status: 200,
    type: 'application/json',
    words,
    location: null,
    retryAfter: null,
  };
}

/** Returns whether the service reports an unknown subject, as opposed to an unknown path. */
const isUnknownSubject = ({ status, type, words }: Symptom) =>
  (status === 404 || status === 400) && /json/.test(type) && !/^Cannot (GET|POST)\b/.test(words);

function createUnknownSubjectCheck(
  { name, url }: CheckedUpstream,
  { what, setting }: NonNullable<ServiceTestRequest['about']>,
  { status, words }: Symptom,
): CheckResult {
  return {
    check: name,
    ok: false,
    found: `${url}: ${what} is unknown to the service (${status}: "${words}")`,
    fix: `correct ${setting}, or remove the id`,
  };
}

/** If the API key was rejected, tries the common headers and returns the fix. */
async function findKeyHeader(
  examinee: CheckedUpstream,
  testRequest: TestRequest,
  { status }: Symptom,
): Promise<string | undefined> {
  const [[sent, key] = []] = Object.entries(examinee.headers);
  if ((status !== 401 && status !== 403) || sent === undefined || key === undefined) return undefined;
  for (const header of KEY_HEADERS.filter((one) => one !== sent.toLowerCase())) {
    const { symptom } = await sendTestRequest(examinee, testRequest, { headers: { [header]: key } });
    if (symptom === null)
      return `set ${examinee.setting.replace(/url$/, 'apiKeyHeader')} to ${header}: the service accepts the key in that header`;
  }
  return undefined;
}

function findServiceUrl(
  examinee: CheckedUpstream,
  testRequest: TestRequest,
  symptom: Symptom,
): Promise<string | undefined> {
  const elsewhere = symptom.failed !== null || ![401, 403, 429].includes(symptom.status);
  return elsewhere ? findWorkingUrl(examinee, testRequest, symptom) : Promise.resolve(undefined);
}
