import { CONTENDERS, type IngestResult } from './ingest.ts';
import type { ListResult } from './lists.ts';
import type { PollResult } from './polls.ts';

/**
 * Limits: the recorder's time over the slower of fetching and COPY, and the Drizzle loop's time over the recorder's.
 */
const MAX_WIRE_FACTOR = 2.5;
const MAX_LIST_WIRE_FACTOR = 3;
const MIN_LOOP_FACTOR = 4;
/** Maximum memory of the recorder's process, in bytes. */
const MAX_MEMORY_BYTES = 200 * 1024 * 1024;

const labels = {
  ingest: 'recorder, end to end',
  fetching: 'fetching and parsing alone',
  copying: 'COPY alone',
  drizzleLoop: 'loop of fetch, zod and Drizzle',
} as const;

/** The ingest's figures for people. */
export function ingestReport({ rows, rounds, medians, overWire, overLoop, peakRss }: IngestResult): string {
  const lines = CONTENDERS.map((name) => {
    const rate = formatCount((rows / medians[name]) * 1000).padStart(9);
    const each = rounds[name].map((milliseconds) => seconds(milliseconds)).join(' ');
    return `${labels[name].padEnd(32)}${rate} rows/s   ${seconds(medians[name])} s  (${each})`;
  });
  const slower = medians.copying > medians.fetching ? 'COPY' : 'fetching';
  return [
    `${formatCount(rows)} blocks, medians of ${rounds.ingest.length}:`,
    ...lines,
    verdict(
      overWire <= MAX_WIRE_FACTOR,
      `${overWire.toFixed(2)} times the slower of the two costs (${slower}); at most ${MAX_WIRE_FACTOR}`,
    ),
    verdict(
      overLoop >= MIN_LOOP_FACTOR,
      `${overLoop.toFixed(2)} times as fast as the loop; at least ${MIN_LOOP_FACTOR}`,
    ),
    verdict(peakRss <= MAX_MEMORY_BYTES, memory(peakRss)),
  ].join('\n');
}

/** Returns whether all limits of blocks are met. */
export const ingestHolds = ({ overWire, overLoop, peakRss }: IngestResult): boolean =>
  overWire <= MAX_WIRE_FACTOR && overLoop >= MIN_LOOP_FACTOR && peakRss <= MAX_MEMORY_BYTES;

const listLabels = {
  metricPages: 'metric points',
  validators: 'validators',
  subnets: 'subnets',
  nativeTransactions: 'native transactions',
} as const;

/** The lists' figures for people. */
export function listReport(results: readonly ListResult[]): string {
  const lines = results.flatMap(({ name, items, alreadyRecorded, medians, overWire, peakRss }) => {
    const { recorder, fetching, copying } = medians;
    const what = `${formatCount(items)} ${listLabels[name]}, ${alreadyRecorded ? '1 % changed' : 'all new'}`;
    return [
      `${what.padEnd(44)}recorder ${seconds(recorder)} s   fetching ${seconds(fetching)} s   COPY ${seconds(copying)} s`,
      verdict(
        overWire <= MAX_LIST_WIRE_FACTOR && peakRss <= MAX_MEMORY_BYTES,
        `${overWire.toFixed(2)} times the slower of the two; at most ${MAX_LIST_WIRE_FACTOR}; ${memory(peakRss)}`,
      ),
    ];
  });
  return ['complete lists:', ...lines].join('\n');
}

/** Returns whether all limits of lists are met. */
export const listsHold = (results: readonly ListResult[]): boolean =>
  results.every(({ overWire, peakRss }) => overWire <= MAX_LIST_WIRE_FACTOR && peakRss <= MAX_MEMORY_BYTES);

/** The polls' figures for people. */
export function pollReport(results: readonly PollResult[]): string {
  const lines = results.map(({ name, items, rows, milliseconds }) => {
    const [before, after] = milliseconds.map((duration) => `${duration.toFixed(1)} ms`);
    return `${`${name}, ${formatCount(items)} items`.padEnd(32)}${before} with ${formatCount(rows[0])} rows stored, ${after} with ${formatCount(rows[1])}`;
  });
  return ['a poll that finds nothing new:', ...lines].join('\n');
}

const verdict = (holds: boolean, text: string) => `${holds ? 'holds' : 'FAILS'}: ${text}`;
const memory = (bytes: number) =>
  `at most ${formatCount(bytes / 1024 / 1024)} MiB in the recorder's process; limit ${MAX_MEMORY_BYTES / 1024 / 1024}`;
const formatCount = (number: number) => Math.round(number).toLocaleString('en-US');
const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(2);
