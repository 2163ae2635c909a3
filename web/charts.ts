import type uPlot from 'uplot';
import { momentText, numberText } from '../src/server/pages/texts.ts';
import { addEarlier, type Line, pointAt } from './charts/lines.ts';
import { plot } from './charts/plot.ts';

/**
 * Replaces charts with interactive plots: users can select a part by dragging, and read exact values. A
 * selected part is loaded as another page of the server, which replaces the content and the URL of this page.
 */
const originalUrl = location.href;
let drawn: { readonly plot: uPlot; readonly resized: ResizeObserver } | null = null;
/** Aborts the current request for another page. */
let pageRequest: AbortController | null = null;
/** Aborts the current requests for unread points. */
let pointsRequest: AbortController | null = null;

/** Replaces the SVG of the chart with a plot. */
function draw(): void {
  drawn?.plot.destroy();
  drawn?.resized.disconnect();
  drawn = null;
  for (const old of document.querySelectorAll('.plot, .readout')) old.remove();
  const figure = document.querySelector<HTMLElement>('figure.chart');
  const picture = figure?.querySelector('svg');
  if (!figure || !picture) return;
  const selectsWindow = figure.dataset.selectsWindow !== undefined;
  const place = document.createElement('div');
  place.className = 'plot';
  place.tabIndex = 0;
  place.setAttribute('role', 'img');
  const about = [...picture.querySelectorAll('title, desc')].map((one) => one.textContent).join('. ');
  place.setAttribute('aria-label', `${about} Use the left and right arrow keys to move between points.`);
  picture.before(place);
  picture.setAttribute('hidden', '');
  const { readout, time } = readoutOf(figure, selectsWindow);
  const [from = 0, to = 0] = (figure.dataset.window ?? '').split(' ').map(Number);
  const tolerance = (to - from) / 50;
  const made = plot(figure, place, {
    onWindowSelected: loadRange,
    onReset: () => void (location.href !== originalUrl && openPage(originalUrl, true)),
    onPointSelected: (at, lines, draws) => {
      time.textContent = at === null ? HINT : `${timeText(at)} UTC`;
      for (const line of lines) {
        const point = at === null ? null : pointAt(line, draws, at, tolerance);
        // A state at the start of the window may have started earlier, so its start is unknown.
        const same = point?.[0] === at || (draws !== 'line' && point?.[0] === from);
        showValue(line, point, same ? '' : draws === 'line' ? 'at' : 'since');
      }
    },
  });
  figure.querySelector('figcaption')?.before(readout);
  const resized = new ResizeObserver(() =>
    made.setSize({ width: place.clientWidth, height: place.clientHeight }),
  );
  resized.observe(place);
  selectWithKeys(place, made);
  drawn = { plot: made, resized };
}

const HINT = 'Drag to zoom in.';

/** Creates the line below a plot, with the selected time and a button that opens the original window. */
function readoutOf(figure: HTMLElement, selectsWindow: boolean) {
  const readout = document.createElement('div');
  readout.className = 'readout';
  const time = document.createElement('span');
  time.textContent = HINT;
  readout.append(time);
  figure.querySelector('figcaption')?.setAttribute('aria-live', 'polite');
  if (selectsWindow && location.href !== originalUrl) {
    const reset = document.createElement('button');
    reset.type = 'button';
    reset.className = 'plain';
    reset.textContent = 'Reset';
    reset.addEventListener('click', () => void openPage(originalUrl, true));
    readout.append(reset);
  }
  return { readout, time };
}

/**
 * Displays the value of a line beside its label.
 * @param preposition word before the time of the value; empty if the value is at the selected time
 */
function showValue({ key }: Line, point: Line['points'][number] | null, preposition: string): void {
  const value = key.querySelector('b') ?? key.appendChild(document.createElement('b'));
  const text = point?.[1] ?? null;
  const exact = text !== null && /^-?\d+(\.\d+)?$/.test(text) ? numberText(text) : text;
  value.textContent =
    exact === null ? '' : `${exact}${preposition && point ? ` ${preposition} ${timeText(point[0])}` : ''}`;
}

const timeText = (at: number) => momentText(new Date(at));

/** Selects the previous or next point if the user presses the left or right arrow key. */
function selectWithKeys(place: HTMLElement, made: uPlot): void {
  place.addEventListener('keydown', ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const times = made.data[0];
    if (step === undefined || times.length === 0) return;
    const from = made.cursor.idx ?? (step > 0 ? -1 : times.length);
    const at = times[Math.min(Math.max(from + step, 0), times.length - 1)] ?? 0;
    made.setCursor({ left: made.valToPos(at, 'x'), top: made.over.clientHeight / 2 });
  });
}

/**
 * Loads a part of the chart.
 * @param from ms since 1970
 * @param to ms since 1970
 */
function loadRange(from: number, to: number): void {
  const address = new URL(location.href);
  address.searchParams.set('from', new Date(from).toISOString());
  address.searchParams.set('to', new Date(to).toISOString());
  void openPage(address.href, true);
}

/**
 * Loads the points that the server did not read within the time limit of the page, from the newest to the
 * oldest, and adds them to the chart.
 */
async function addUnread(): Promise<void> {
  const note = document.querySelector<HTMLElement>('[data-unread]');
  const figure = document.querySelector<HTMLElement>('figure.chart');
  const now = new AbortController();
  pointsRequest = now;
  let link = note?.querySelector('a')?.href;
  if (!note || !figure || link === undefined) return;
  let reached = Number(note.dataset.unread);
  const drawnFrom = reached;
  try {
    while (link !== undefined) {
      const page = await pageAt(link, now.signal);
      const earlier = page.querySelector<HTMLElement>('figure.chart');
      const rest = page.querySelector<HTMLElement>('[data-unread]');
      const unread = Number(rest?.dataset.unread ?? Number.NEGATIVE_INFINITY);
      // The server did not read any points of the part.
      if (unread >= reached) break;
      if (earlier) addEarlier(figure, earlier);
      reached = unread;
      link = rest?.querySelector('a')?.href;
      note.textContent = rest
        ? `Loading the data before ${timeText(reached)}.`
        : `The whole window is drawn. The table below lists the points from ${timeText(drawnFrom)} on.`;
      draw();
    }
  } catch {
    // After a timeout or an error, the chart keeps its points.
  }
  if (link !== undefined && reached !== drawnFrom && !now.signal.aborted) offerPart(note, reached, link);
}

/** Displays the start of the drawn part, with a link to the earlier points. */
function offerPart(note: HTMLElement, start: number, link: string): void {
  const rest = document.createElement('a');
  rest.href = link;
  rest.textContent = 'Load the earlier points';
  note.replaceChildren(`The chart starts at ${timeText(start)}. `, rest);
}

/**
 * Fetches a page.
 * @throws Error if the response is an error or not a page of the recorder
 */
async function pageAt(address: string, signal: AbortSignal): Promise<Document> {
  const answer = await fetch(address, { headers: { accept: 'text/html' }, signal });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!answer.ok || !page.querySelector('main'))
    throw new Error(`HTTP ${answer.status} instead of a page with a chart`);
  return page;
}

/**
 * Replaces the content of this page with another page of the chart.
 * @param isNew whether to add the page to the history of the browser
 */
async function openPage(address: string, isNew: boolean): Promise<void> {
  pageRequest?.abort();
  pointsRequest?.abort();
  const now = new AbortController();
  pageRequest = now;
  document.querySelector('figure.chart')?.setAttribute('aria-busy', 'true');
  try {
    const page = await pageAt(address, now.signal);
    const [old, fresh] = [document.querySelector('main'), page.querySelector('main')];
    if (!old || !fresh) throw new Error('the page has no main element');
    if (isNew) history.pushState(null, '', address);
    old.replaceWith(document.adoptNode(fresh));
    document.title = page.title;
    draw();
    void addUnread();
  } catch {
    // The browser opens the URL instead, so that the user can read an error page of the server.
    if (!now.signal.aborted) location.assign(address);
  }
}

addEventListener('popstate', () => {
  if (document.querySelector('[data-selects-window]') || pageRequest) void openPage(location.href, false);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
draw();
void addUnread();
