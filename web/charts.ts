import type uPlot from 'uplot';
import { momentText, numberText } from '../src/server/pages/texts.ts';
import { addEarlier, type Line, pointAt } from './charts/lines.ts';
import { plot } from './charts/plot.ts';

/**
 * Draws charts again, so that a part can be selected by dragging and values are shown with every digit. The new part is
 * a separate page: it is requested and replaces this one, and the address follows.
 */
const whole = location.href;
let drawn: { readonly plot: uPlot; readonly seen: ResizeObserver } | null = null;
let pending: AbortController | null = null;
let adding: AbortController | null = null;

function draw(): void {
  drawn?.plot.destroy();
  drawn?.seen.disconnect();
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
  const within = (to - from) / 50;
  const made = plot(figure, place, {
    onWindowSelected: choose,
    reset: () => void (location.href !== whole && go(whole, true)),
    onPointSelected: (at, lines, draws) => {
      time.textContent = at === null ? HINT : `${timeText(at)} UTC`;
      for (const line of lines) {
        const point = at === null ? null : pointAt(line, draws, at, within);
        // Earlier values are valid in the window, but their start is unknown here.
        const same = point?.[0] === at || (draws !== 'line' && point?.[0] === from);
        show(line, point, same ? '' : draws === 'line' ? 'at' : 'since');
      }
    },
  });
  figure.querySelector('figcaption')?.before(readout);
  const seen = new ResizeObserver(() =>
    made.setSize({ width: place.clientWidth, height: place.clientHeight }),
  );
  seen.observe(place);
  byKeys(place, made);
  drawn = { plot: made, seen };
}

const HINT = 'Drag to zoom in.';

/** The line below a plot: the selected point, and the link back. */
function readoutOf(figure: HTMLElement, selectsWindow: boolean) {
  const readout = document.createElement('div');
  readout.className = 'readout';
  const time = document.createElement('span');
  time.textContent = HINT;
  readout.append(time);
  figure.querySelector('figcaption')?.setAttribute('aria-live', 'polite');
  if (selectsWindow && location.href !== whole) {
    const reset = document.createElement('button');
    reset.type = 'button';
    reset.className = 'plain';
    reset.textContent = 'Reset';
    reset.addEventListener('click', () => void go(whole, true));
    readout.append(reset);
  }
  return { readout, time };
}

/** Shows a value beside its key. @param apart text of the value's own time; empty if it is the selected time */
function show({ key }: Line, point: Line['points'][number] | null, apart: string): void {
  const value = key.querySelector('b') ?? key.appendChild(document.createElement('b'));
  const text = point?.[1] ?? null;
  const exact = text !== null && /^-?\d+(\.\d+)?$/.test(text) ? numberText(text) : text;
  value.textContent =
    exact === null ? '' : `${exact}${apart && point ? ` ${apart} ${timeText(point[0])}` : ''}`;
}

const timeText = (at: number) => momentText(new Date(at));

/** The keys left and right select the points one by one. */
function byKeys(place: HTMLElement, made: uPlot): void {
  place.addEventListener('keydown', ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const times = made.data[0];
    if (step === undefined || times.length === 0) return;
    const from = made.cursor.idx ?? (step > 0 ? -1 : times.length);
    const at = times[Math.min(Math.max(from + step, 0), times.length - 1)] ?? 0;
    made.setCursor({ left: made.valToPos(at, 'x'), top: made.over.clientHeight / 2 });
  });
}

/** Requests a part. @param from and @param to in ms since 1970 */
function choose(from: number, to: number): void {
  const address = new URL(location.href);
  address.searchParams.set('from', new Date(from).toISOString());
  address.searchParams.set('to', new Date(to).toISOString());
  void go(address.href, true);
}

/** Requests the points beyond the limit of a page, from the end, and adds them until the whole window is drawn. */
async function addUnread(): Promise<void> {
  const note = document.querySelector<HTMLElement>('[data-unread]');
  const figure = document.querySelector<HTMLElement>('figure.chart');
  const now = new AbortController();
  adding = now;
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
      // Not even the end of the part was read.
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
    // The response is late or an error: the drawing is kept.
  }
  if (link !== undefined && reached !== drawnFrom && !now.signal.aborted) offerPart(note, reached, link);
}

/** States where the drawn part starts, with a link to the previous part. */
function offerPart(note: HTMLElement, start: number, link: string): void {
  const rest = document.createElement('a');
  rest.href = link;
  rest.textContent = 'Load the earlier points';
  note.replaceChildren(`The chart starts at ${timeText(start)}. `, rest);
}

/** The page at an address. @throws Error if the response is no page of a chart */
async function pageAt(address: string, signal: AbortSignal): Promise<Document> {
  const answer = await fetch(address, { headers: { accept: 'text/html' }, signal });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!answer.ok || !page.querySelector('main')) throw new Error('the response is not a chart');
  return page;
}

/** Replaces this page with another one of the same chart. @param isNew it becomes an entry of the history */
async function go(address: string, isNew: boolean): Promise<void> {
  pending?.abort();
  adding?.abort();
  const now = new AbortController();
  pending = now;
  document.querySelector('figure.chart')?.setAttribute('aria-busy', 'true');
  try {
    const page = await pageAt(address, now.signal);
    const [old, fresh] = [document.querySelector('main'), page.querySelector('main')];
    if (!old || !fresh) throw new Error('the response is not a chart');
    if (isNew) history.pushState(null, '', address);
    old.replaceWith(document.adoptNode(fresh));
    document.title = page.title;
    draw();
    void addUnread();
  } catch {
    // The server reports errors on a page of its own.
    if (!now.signal.aborted) location.assign(address);
  }
}

addEventListener('popstate', () => {
  if (document.querySelector('[data-selects-window]') || pending) void go(location.href, false);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
draw();
void addUnread();
