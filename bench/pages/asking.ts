import { Agent, request } from 'undici';
import type { Kind } from './addresses.ts';
import type { ProcessorMeter } from './processor.ts';

/** How long an address took, ms: each time that it was asked. */
export interface Asked {
  readonly path: string;
  readonly times: readonly number[];
  /** What an answer cost PostgreSQL and the server, ms of processor time: the mean of all times. */
  readonly processor: number;
  /** The status of the last answer. */
  readonly status: number;
  /** What an answer that is none says. */
  readonly said: string;
}

/** A server of the recorder, and what it costs. */
export interface Served {
  readonly address: string;
  readonly meter: ProcessorMeter;
}

/** An address is asked no longer than this, ms, and at least three times. */
const LONGEST = 3_000;
const LEAST = 3;
const agent = new Agent({ connections: 1, headersTimeout: 60_000, bodyTimeout: 60_000 });

/** Asks one after the other over one connection, and reads each answer to its end. */
export async function askAll(served: Served, { paths }: Kind, times: number): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const path of paths) asked.push(await askOften(served, path, times));
  return asked;
}

async function askOften({ address, meter }: Served, path: string, most: number): Promise<Asked> {
  // The first time fills the caches of the server and of PostgreSQL.
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

/** An answer with all of its text. */
export async function ask(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const { statusCode, body } = await request(url, { dispatcher: agent });
  return { status: statusCode, text: await body.text() };
}

/** The share of times that is not longer. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
