import type { PagePaint } from './measure-paints.ts';
import { quantile, type UrlMeasurement } from './measure-requests.ts';

/** Limits, ms: the p99 of a list, and the first paint of a page. */
export const MAX_LIST_MS = 100;
export const MAX_PAINT_MS = 1_000;

/** A kind of URL, requested from the empty and from the full record. */
export interface KindComparison {
  readonly name: string;
  readonly empty: readonly UrlMeasurement[];
  readonly full: readonly UrlMeasurement[];
}

const ms = (time: number | undefined) =>
  time === undefined || Number.isNaN(time) ? '–' : time < 10 ? time.toFixed(1) : time.toFixed(0);
const worst = ({ times }: UrlMeasurement) => quantile(times, 0.99);
const timesOf = (all: readonly UrlMeasurement[]) => all.flatMap(({ times }) => times);

/** The kinds side by side; each with its slowest URL. */
export function kindTable(kinds: readonly KindComparison[]): string {
  return table(
    [
      'kind',
      'addresses',
      'empty p50',
      'empty p99',
      'full p50',
      'full p99',
      'processor p50',
      'processor, most',
      `over ${MAX_LIST_MS}`,
      'costs most',
    ],
    kinds.map(({ name, empty, full }) => {
      const costs = full.map(({ processor }) => processor);
      const mostExpensive = full.toSorted((one, other) => other.processor - one.processor)[0];
      return [
        name,
        String(full.length),
        ms(quantile(timesOf(empty), 0.5)),
        ms(quantile(timesOf(empty), 0.99)),
        ms(quantile(timesOf(full), 0.5)),
        ms(quantile(timesOf(full), 0.99)),
        ms(quantile(costs, 0.5)),
        ms(mostExpensive?.processor),
        String(costs.filter((cost) => cost > MAX_LIST_MS).length),
        mostExpensive?.path.slice(0, 80) ?? '',
      ];
    }),
  );
}

/** The URLs whose p99 exceeds a limit, and those without a response. */
export function slowTable(kinds: readonly KindComparison[], maxMs: number): string {
  const slow = kinds.flatMap(({ name, full, empty }) =>
    full
      .filter((one) => worst(one) > maxMs || one.status !== 200)
      .map((one) => ({ name, one, empty: empty.find(({ path }) => path === one.path) })),
  );
  return table(
    ['kind', 'path', 'empty p99', 'full p50', 'full p99', 'processor', 'status', 'error'],
    slow
      .sort((one, other) => other.one.processor - one.one.processor)
      .map(({ name, one, empty }) => [
        name,
        one.path.slice(0, 130),
        ms(empty && worst(empty)),
        ms(quantile(one.times, 0.5)),
        ms(worst(one)),
        ms(one.processor),
        String(one.status),
        one.error,
      ]),
  );
}

/** First paints side by side. */
export function paintTable(empty: readonly PagePaint[], full: readonly PagePaint[]): string {
  return table(
    ['page', 'first byte, empty', 'full', 'first paint, empty', 'full', 'loaded, empty', 'full'],
    full.map(({ path, firstByte, firstPaint, loaded }, at) => [
      path.slice(0, 100),
      ms(empty[at]?.firstByte),
      ms(firstByte),
      ms(empty[at]?.firstPaint),
      ms(firstPaint),
      ms(empty[at]?.loaded),
      ms(loaded),
    ]),
  );
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]) =>
  [heads, heads.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
