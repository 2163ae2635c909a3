/**
 * Refreshes a page with `<main data-live="SECONDS">`: requests it at this interval and replaces its main part, while
 * the page is visible and no text, link or control in it is selected. If the request fails, the content stays and its
 * time is shown. An error page (`data-instead`) is reloaded as soon as the page is available.
 */
const main = document.querySelector<HTMLElement>('main[data-live]');
const seconds = Number(main?.dataset.live);
/** Tables that scroll sideways. A click in one focuses it. */
const TABLES = '.scroll[aria-label]';
/** Maximum duration of a response, ms. The server itself reports after 8 s that the database is late. */
const TIMEOUT_MS = 12_000;
const stale = document.querySelector<HTMLElement>('[data-stale]');

async function refresh(): Promise<void> {
  const old = document.querySelector<HTMLElement>('main[data-live]');
  if (!old || document.hidden || isHeld(old)) return;
  const { ok, page } = await fetchPage();
  const fresh = page?.querySelector<HTMLElement>('main');
  if (!ok || !fresh) {
    const problem = page?.querySelector('.problem .what') ?? page?.querySelector('h1');
    const what = problem?.textContent ?? 'The recorder does not respond.';
    if (old.dataset.instead === undefined)
      showMessage(`${what} This page shows the state at ${old.dataset.at} UTC. It refreshes automatically.`);
    return;
  }
  if (old.dataset.instead !== undefined) return location.reload();
  if (isHeld(old)) return; // meanwhile
  replace(old, document.adoptNode(fresh));
  showMessage('');
}

/** Replaces the old main part with the new one, and keeps opened details, scroll positions and the focus. */
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

/** The same table in the new main part. */
const counterpart = (table: Element, fresh: HTMLElement) =>
  fresh.querySelector<HTMLElement>(
    `.scroll[aria-label="${CSS.escape(table.getAttribute('aria-label') ?? '')}"]`,
  );

/** Requests the page again. Returns no page if the server does not respond in time. */
async function fetchPage(): Promise<{ readonly ok: boolean; readonly page: Document | null }> {
  try {
    const answer = await fetch(location.href, {
      headers: { accept: 'text/html' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { ok: answer.ok, page: new DOMParser().parseFromString(await answer.text(), 'text/html') };
  } catch {
    return { ok: false, page: null };
  }
}

/**
 * Displays a message if it differs from the displayed one. Screen readers read the message at each change.
 */
function showMessage(message: string): void {
  if (stale && stale.textContent !== message) stale.textContent = message;
}

/**
 * Returns whether the user is about to use an element that a refresh would replace: a link, a control, a
 * selected text.
 */
function isHeld(main: HTMLElement): boolean {
  const focused = document.activeElement;
  const isUsed = focused !== main && main.contains(focused) && !focused?.matches(TABLES);
  return isUsed || hasSelection(main);
}

function hasSelection(within: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && within.contains(selection.anchorNode);
}

if (seconds > 0) setInterval(refresh, seconds * 1000);
