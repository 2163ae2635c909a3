/**
 * Keeps a page current: asks for it again every so often and puts its new main part in place of the old one, while it is
 * looked at and no text, link or control in it is chosen. A page asks for it by `<main data-live="SECONDS">`. While it cannot
 * be renewed, what it shows stays, and it says of when that is. What stands in place of a page (`data-instead`) is loaded again
 * as soon as the page is there.
 */
const main = document.querySelector<HTMLElement>('main[data-live]');
const seconds = Number(main?.dataset.live);
/** Tables that can be moved sideways. A click in one gives it the focus. */
const TABLES = '.scroll[aria-label]';
/** The longest that an answer may take, ms. The server itself says after 8 s that the database is late. */
const PATIENCE = 12_000;
const stale = document.querySelector<HTMLElement>('[data-stale]');

async function refresh(): Promise<void> {
  const old = document.querySelector<HTMLElement>('main[data-live]');
  if (!old || document.hidden || isHeld(old)) return;
  const { ok, page } = await ask();
  const fresh = page?.querySelector<HTMLElement>('main');
  if (!ok || !fresh) {
    const told = page?.querySelector('.problem .what') ?? page?.querySelector('h1');
    const what = told?.textContent ?? 'The recorder gives no answer.';
    if (old.dataset.instead === undefined)
      tell(`${what} This page is as it was at ${old.dataset.at} UTC. It renews itself as soon as it can.`);
    return;
  }
  if (old.dataset.instead !== undefined) return location.reload();
  if (isHeld(old)) return; // meanwhile
  replace(old, document.adoptNode(fresh));
  tell('');
}

/** Puts the new main part in place of the old one: what was opened is open, and tables and the focus are where they were. */
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

/** Asks for the page again. No page: nobody answers, or not in time. */
async function ask(): Promise<{ readonly ok: boolean; readonly page: Document | null }> {
  try {
    const answer = await fetch(location.href, {
      headers: { accept: 'text/html' },
      signal: AbortSignal.timeout(PATIENCE),
    });
    return { ok: answer.ok, page: new DOMParser().parseFromString(await answer.text(), 'text/html') };
  } catch {
    return { ok: false, page: null };
  }
}

/** Says it once: a screen reader reads it at each change. */
function tell(words: string): void {
  if (stale && stale.textContent !== words) stale.textContent = words;
}

/** Somebody is about to use something in it, which would be gone: a link, a control, a text that is marked. */
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
