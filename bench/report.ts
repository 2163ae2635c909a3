import { CONTENDERS, type IngestResult } from './ingest.ts';
import type { PollResult } from './polls.ts';

/** What must hold: ingest's time over the slower of fetching and COPY, and the Drizzle loop's time over ingest's. */
export const MOST_OVER_WIRE = 4;
export const LEAST_OVER_LOOP = 3;

const labels = {
  ingest: 'recorder, end to end',
  fetching: 'fetching and parsing alone',
  copying: 'COPY alone',
  drizzleLoop: 'loop of fetch, zod and Drizzle',
} as const;

/** The ingest's figures for people. */
export function ingestReport({ rows, rounds, medians, overWire, overLoop, peakRss }: IngestResult): string {
  const lines = CONTENDERS.map((name) => {
    const rate = whole((rows / medians[name]) * 1000).padStart(9);
    const each = rounds[name].map((milliseconds) => seconds(milliseconds)).join(' ');
    return `${labels[name].padEnd(32)}${rate} rows/s   ${seconds(medians[name])} s  (${each})`;
  });
  const slower = medians.copying > medians.fetching ? 'COPY' : 'fetching';
  return [
    `${whole(rows)} blocks, medians of ${rounds.ingest.length}:`,
    ...lines,
    verdict(
      overWire <= MOST_OVER_WIRE,
      `${overWire.toFixed(2)} times the slower of the two costs (${slower}); at most ${MOST_OVER_WIRE}`,
    ),
    verdict(
      overLoop >= LEAST_OVER_LOOP,
      `${overLoop.toFixed(2)} times as fast as the loop; at least ${LEAST_OVER_LOOP}`,
    ),
    `peak memory of the recorder's process: ${whole(peakRss / 1024 / 1024)} MiB`,
  ].join('\n');
}

/** The polls' figures for people. */
export function pollReport(results: readonly PollResult[]): string {
  const lines = results.map(({ name, items, rows, milliseconds }) => {
    const [before, after] = milliseconds.map((taken) => `${taken.toFixed(1)} ms`);
    return `${`${name}, ${whole(items)} items`.padEnd(32)}${before} with ${whole(rows[0])} rows stored, ${after} with ${whole(rows[1])}`;
  });
  return ['a poll that finds nothing new:', ...lines].join('\n');
}

const verdict = (holds: boolean, text: string) => `${holds ? 'holds' : 'FAILS'}: ${text}`;
const whole = (number: number) => Math.round(number).toLocaleString('en-US');
const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(2);
