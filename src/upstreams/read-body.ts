import { failureOfStatus, mediaTypeOf } from './classify-failure.ts';
import { UpstreamFailure } from './failure.ts';
import type { HttpResponse } from './http.ts';
import { parseJson } from './json.ts';

const JSON_TYPE = /\bjson\b/;
/** Media types of health reports. Some reports have the type text/plain (upstream-services.md#health). */
const REPORT_TYPE = /\bjson\b|^text\/plain$/;

/**
 * Returns the parsed body.
 * @throws UpstreamFailure if the status is not 2xx or the body is not JSON, by type or content
 */
export function jsonBodyOf(answer: HttpResponse, now: number): unknown {
  const failure = failureOfStatus(answer, now);
  if (failure) throw failure;
  return parsed(answer, JSON_TYPE, 'JSON');
}

/**
 * Returns the health report in a response. A report is accepted with a status of 2xx or 5xx, because an
 * unhealthy node reports with 503.
 * @throws UpstreamFailure if the response is not a health report. The kind depends on the status, and is
 * `malformed` for 2xx.
 */
export function healthReportOf(answer: HttpResponse, now: number): unknown {
  const failure = failureOfStatus(answer, now, ' instead of a health report');
  if (failure && failure.kind !== 'server') throw failure;
  try {
    return requireHealthReport(parsed(answer, REPORT_TYPE, 'a health report'), answer.status);
  } catch (error) {
    throw failure ?? error;
  }
}

/**
 * Returns the body if it is a health report.
 * @throws UpstreamFailure (malformed) if the body is not a health report
 */
export function requireHealthReport(body: unknown, status: number): unknown {
  if (typeof body === 'object' && body !== null && 'healthy' in body && typeof body.healthy === 'boolean')
    return body;
  throw instead(status, 'a health report', 'JSON without "healthy"');
}

function parsed(answer: HttpResponse, types: RegExp, expected: string): unknown {
  const { status, text } = answer;
  const type = mediaTypeOf(answer);
  if (text.trim() === '') throw instead(status, expected, 'an empty body');
  if (!types.test(type)) throw instead(status, expected, type || 'a body without a content type');
  try {
    return parseJson(text);
  } catch {
    throw instead(status, expected, `invalid JSON of ${text.length} characters`);
  }
}

const instead = (status: number, expected: string, body: string) =>
  new UpstreamFailure('malformed', `HTTP ${status} with ${body} instead of ${expected}`, { status });
