/**
 * Keeps a page current: asks for it again every so often and puts its new main part in place of the old one, while it is
 * looked at and nothing in it has the focus. A page asks for it by `<main data-live="SECONDS">`.
 */
const main = document.querySelector<HTMLElement>('main[data-live]');
const seconds = Number(main?.dataset.live);
const stale = document.querySelector<HTMLElement>('[data-stale]');

async function refresh(): Promise<void> {
  const old = document.querySelector<HTMLElement>('main[data-live]');
  if (!old || document.hidden || old.contains(document.activeElement) || hasSelection(old)) return;
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const fresh = page.querySelector('main');
  if (!fresh) throw new Error('the answer is no page');
  for (const open of old.querySelectorAll('details[open][id]'))
    fresh.querySelector(`#${CSS.escape(open.id)}`)?.setAttribute('open', '');
  // A page that tells of a fault goes on being asked for.
  fresh.setAttribute('data-live', String(seconds));
  old.replaceWith(document.adoptNode(fresh));
}

function hasSelection(within: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && within.contains(selection.anchorNode);
}

if (seconds > 0)
  setInterval(() => {
    refresh().then(
      () => stale?.setAttribute('hidden', ''),
      () => stale?.removeAttribute('hidden'),
    );
  }, seconds * 1000);
