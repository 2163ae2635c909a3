import type { OtlpSettings } from '../config/otlp.ts';
import type { CheckResult } from '../lib/check-result.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { callOnce } from '../upstreams/http.ts';

/** Timeout of the request to the endpoint, in ms. */
const ENDPOINT_TIMEOUT_MS = 5_000;

/**
 * Checks that the OpenTelemetry endpoint accepts an empty batch. Returns an empty list if export is not
 * configured.
 */
export async function checkTelemetry(
  settings: OtlpSettings | undefined,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  if (settings === undefined) return [];
  const { protocol, headers, traces, logs } = settings;
  const isJson = protocol === 'http/json';
  const sendEmptyBatch = async (url: string): Promise<CheckResult> => {
    const where = new URL(url);
    const at = `${where.origin}${where.pathname}`;
    const bad = (cause: string): CheckResult => ({
      check: 'OpenTelemetry',
      ok: false,
      found: `${at}: ${cause}; the recording continues without OpenTelemetry`,
      fix: 'start the collector, or correct the variables that start with OTEL_EXPORTER_OTLP_',
    });
    try {
      const { status } = await callOnce({
        method: 'POST',
        url: where,
        headers: { ...headers, 'content-type': isJson ? 'application/json' : 'application/x-protobuf' },
        body: isJson ? '{}' : '',
        deadline: ENDPOINT_TIMEOUT_MS,
        maxBytes: 1024 * 1024,
        signal,
      });
      if (status < 200 || status >= 300) return bad(`responded with status ${status}`);
      return { check: 'OpenTelemetry', ok: true, found: `${at} accepts data` };
    } catch (error) {
      return bad(toErrorMessage(error));
    }
  };
  return Promise.all([traces, logs].flatMap((url) => (url === undefined ? [] : [sendEmptyBatch(url)])));
}
