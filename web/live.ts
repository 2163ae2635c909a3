/**
 * Keeps a page current: asks for it again every so often and puts its new main part in place of the old one, while it is
 * looked at and nothing in it has the focus. A page asks for it by `<main data-live="SECONDS">`. While it cannot be renewed,
 * what it shows stays, and it says of when that is. What stands in place of a page (`data-instead`) is loaded anew as soon
 * as the page is there.
 */
const main = document.querySelector<HTMLElement>('main[data-live]');
const seconds = Number(main?.dataset.live);
/** The longest that an answer may take, ms. The server itself says after 8 s that the database is late. */
const PATIENCE = 12_000;
const stale = document.querySelector<HTMLElement>('[data-stale]');

async function refresh(): Promise<void> {
  const old = document.querySelector<HTMLElement>('main[data-live]');
  if (!old || document.hidden || old.contains(document.activeElement) || hasSelection(old)) return;
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
  for (const open of old.querySelectorAll('details[open][id]'))
    fresh.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute('open', '');
  old.replaceWith(document.adoptNode(fresh));
  tell('');
}

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

function hasSelection(within: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && within.contains(selection.anchorNode);
}

if (seconds > 0) setInterval(refresh, seconds * 1000);
