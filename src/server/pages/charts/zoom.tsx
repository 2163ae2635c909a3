import type { ChartRequest } from './chart-data.ts';
import { type ChartLinkParameters, chartLink } from './link.ts';

/** Minimum length of a window, in ms. */
const MIN_WINDOW_MS = 60_000;
/** Minimum start of a window, in ms since 1970. */
const EARLIEST = Date.UTC(1970, 0);
/** Maximum end of a window, in ms since 1970. Years have at most four digits. */
const LATEST = Date.UTC(9999, 0);
const inTime = (at: number) => new Date(Math.min(Math.max(Math.round(at), EARLIEST), LATEST));

/**
 * Links that move and scale the window. Each link loads the points of the new window.
 * @param fixed whether the request contains the end of the window
 */
export function Zoom({ drawing, fixed }: { readonly drawing: ChartRequest; readonly fixed: boolean }) {
  const [from, to] = drawing.window.map((one) => one.getTime());
  if (from === undefined || to === undefined) return null;
  const width = to - from;
  const params = chartOf(drawing);
  const move = (label: string, begin: number, end: number) => (
    <a class="button plain" href={chartLink({ ...params, from: inTime(begin), to: inTime(end) })}>
      {label}
    </a>
  );
  return (
    <nav class="filters" aria-label="Window">
      {move('Earlier', from - width / 2, to - width / 2)}
      {move('Later', from + width / 2, to + width / 2)}
      {width > 2 * MIN_WINDOW_MS && move('Zoom in', from + width / 4, to - width / 4)}
      {move('Zoom out', from - width / 2, to + width / 2)}
      {fixed && (
        <a class="button plain" href={chartLink({ ...params, from: null, to: null })}>
          Newest
        </a>
      )}
    </nav>
  );
}

/** Returns the parameters of a chart's URL. */
export function chartOf(drawing: ChartRequest): ChartLinkParameters {
  const { drawable, columns, keyValues, args, grain, isGrainExplicit, window, moments } = drawing;
  const [from, to] = window;
  const [asOf = null, beside = null] = moments;
  const selected = Object.fromEntries(
    Object.entries(keyValues).map(([name, values]) => [name, values.join(',')]),
  );
  const by = isGrainExplicit ? grain : null;
  return { of: drawable.name, columns, selected: { ...selected, ...args }, by, from, to, asOf, beside };
}
