/**
 * Refreshes a page with `<main data-live="SECONDS">`: requests the page at this interval and replaces the
 * main element. Pauses while the page is hidden, a link or control in the main element has the focus, or a
 * text is selected. If the request fails, the content remains, with a notice about its age. An error page
 * (`data-instead`) is reloaded when the page is available.
 */
const main = document.querySelector<HTMLElement>('main[data-live]');
const seconds = Number(main?.dataset.live);
/** Selector of tables that scroll sideways. A click in such a table focuses the table. */
const TABLES = '.scroll[aria-label]';
/**
 * Timeout of a request, in ms. Longer than the timeout of a page on the server (8 s), which responds with an
 * error.
 */
const REQUEST_TIMEOUT_MS = 12_000;
const stale = document.querySelector<HTMLElement>('[data-stale]');

async function refresh(): Promise<void> {
  const old = document.querySelector<HTMLElement>('main[data-live]');
  if (!old || document.hidden || isInUse(old)) return;
  const { ok, page } = await fetchPage();
  const fresh = page?.querySelector<HTMLElement>('main');
  if (!ok || !fresh) {
    const heading = page?.querySelector('.problem .what') ?? page?.querySelector('h1');
    const what = heading?.textContent ?? 'The recorder does not respond.';
    if (old.dataset.instead === undefined)
      showNotice(`${what} This page shows the state at ${old.dataset.at} UTC. It refreshes automatically.`);
    return;
  }
  if (old.dataset.instead !== undefined) return location.reload();
  if (isInUse(old)) return; // the user may have selected an element during the request
  replace(old, document.adoptNode(fresh));
  showNotice('');
}

/** Replaces the old main element with the new one. Keeps opened details, scroll positions and the focus. */
function replace(old: HTMLElement, fresh: HTMLElement): void {
  for (const open of old.querySelectorAll('details[open][id]'))
    fresh.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute('open', '');
  const moved = [...old.querySelectorAll(TABLES)].map((table) => [table, table.scrollLeft] as const);
  const focused = document.activeElement;
  old.replaceWith(fresh);
  for (const [table, left] of moved) {
    const now = counterpart(table, fresh);
    if (now) now.scrollLeft = left;
  }
  const now = focused === old ? fresh : focused?.matches(TABLES) ? counterpart(focused, fresh) : null;
  now?.focus({ preventScroll: true });
}

/** Returns the table in the new main element that corresponds to a table in the old one. */
const counterpart = (table: Element, fresh: HTMLElement) =>
  fresh.querySelector<HTMLElement>(
    `.scroll[aria-label="${CSS.escape(table.getAttribute('aria-label') ?? '')}"]`,
  );

/** Requests the page again. The result contains no page if the server does not respond within the timeout. */
async function fetchPage(): Promise<{ readonly ok: boolean; readonly page: Document | null }> {
  try {
    const answer = await fetch(location.href, {
      headers: { accept: 'text/html' },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    return { ok: answer.ok, page: new DOMParser().parseFromString(await answer.text(), 'text/html') };
  } catch {
    return { ok: false, page: null };
  }
}

/**
 * Displays a notice. Does nothing if the text is unchanged, because screen readers read each change aloud.
 */
function showNotice(words: string): void {
  if (stale && stale.textContent !== words) stale.textContent = words;
}

/**
 * Returns whether a link or control in the main element has the focus, or a text in the element is selected.
 */
function isInUse(main: HTMLElement): boolean {
  const focused = document.activeElement;
  const isFocused = focused !== main && main.contains(focused) && !focused?.matches(TABLES);
  return isFocused || hasSelection(main);
}

function hasSelection(within: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && within.contains(selection.anchorNode);
}

if (seconds > 0) setInterval(refresh, seconds * 1000);
