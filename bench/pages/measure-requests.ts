import { Agent, request } from 'undici';
import type { Kind } from './addresses.ts';
import type { ProcessorMeter } from './processor.ts';

/** Durations of a URL, ms: each request. */
export interface Asked {
  readonly path: string;
  readonly times: readonly number[];
  /** Mean cost of a response for PostgreSQL and the server, ms of processor time. */
  readonly processor: number;
  /** The status of the last response. */
  readonly status: number;
  /** The error of an unsuccessful response. */
  readonly said: string;
}

/** A server of the recorder, and its cost. */
export interface Served {
  readonly address: string;
  readonly meter: ProcessorMeter;
}

/** A URL is requested at most for this time, ms, and at least three times. */
const LONGEST = 3_000;
const LEAST = 3;
const agent = new Agent({ connections: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });

/** Sends requests one after the other over one connection, and reads each response to its end. */
export async function askAll(served: Served, { paths }: Kind, times: number): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const path of paths) asked.push(await askOften(served, path, times));
  return asked;
}

async function askOften({ address, meter }: Served, path: string, most: number): Promise<Asked> {
  // The first request fills the caches of the server and of PostgreSQL.
  let { status, text } = await ask(address + path);
  const before = await meter.read();
  const times: number[] = [];
  const began = performance.now();
  while (
    times.length < Math.min(most, LEAST) ||
    (times.length < most && performance.now() - began < LONGEST)
  ) {
    const at = performance.now();
    ({ status, text } = await ask(address + path));
    times.push(performance.now() - at);
  }
  const processor = ((await meter.read()) - before) / times.length;
  return { path, times, processor, status, said: status === 200 ? '' : text.slice(0, 200) };
}

/** A response with its complete text. */
export async function ask(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const { statusCode, body } = await request(url, { dispatcher: agent });
  return { status: statusCode, text: await body.text() };
}

/** The quantile: the duration that a share of all does not exceed. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
