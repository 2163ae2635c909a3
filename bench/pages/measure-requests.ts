import { Agent, request } from 'undici';
import type { Kind } from './addresses.ts';
import type { ProcessorMeter } from './processor.ts';

/** Durations of a URL, ms: each request. */
export interface UrlMeasurement {
  readonly path: string;
  readonly times: readonly number[];
  /** Mean cost of a response for PostgreSQL and the server, ms of processor time. */
  readonly processor: number;
  /** The status of the last response. */
  readonly status: number;
  /** The error of an unsuccessful response. */
  readonly error: string;
}

/** A server of the recorder, and its cost. */
export interface MeasuredServer {
  readonly address: string;
  readonly meter: ProcessorMeter;
}

/** A URL is requested at most for this time, ms, and at least three times. */
const MAX_URL_MS = 3_000;
const MIN_REQUESTS = 3;
const agent = new Agent({ connections: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });

/** Sends requests one after the other over one connection, and reads each response to its end. */
export async function measureAll(
  server: MeasuredServer,
  { paths }: Kind,
  times: number,
): Promise<UrlMeasurement[]> {
  const measurements: UrlMeasurement[] = [];
  for (const path of paths) measurements.push(await measureUrl(server, path, times));
  return measurements;
}

async function measureUrl(
  { address, meter }: MeasuredServer,
  path: string,
  maxRequests: number,
): Promise<UrlMeasurement> {
  // The first request fills the caches of the server and of PostgreSQL.
  let { status, text } = await fetchText(address + path);
  const before = await meter.read();
  const times: number[] = [];
  const startedAt = performance.now();
  while (
    times.length < Math.min(maxRequests, MIN_REQUESTS) ||
    (times.length < maxRequests && performance.now() - startedAt < MAX_URL_MS)
  ) {
    const at = performance.now();
    ({ status, text } = await fetchText(address + path));
    times.push(performance.now() - at);
  }
  const processor = ((await meter.read()) - before) / times.length;
  return { path, times, processor, status, error: status === 200 ? '' : text.slice(0, 200) };
}

/** A response with its complete text. */
export async function fetchText(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const { statusCode, body } = await request(url, { dispatcher: agent });
  return { status: statusCode, text: await body.text() };
}

/** The quantile: the duration that a share of all does not exceed. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
