import { useContext } from 'preact/hooks';
import { isWithin, navigation } from '../navigation.ts';
import type { Content } from '../page.ts';
import { CurrentLinks } from '../status/links.ts';
import { momentText } from '../texts.ts';
import { CurrentView, themes } from '../view.ts';
import { LinkList } from './link-list.tsx';
import { Time } from './time.tsx';

/** The icon of the recorder, as a data URL, so that the browser does not request a file. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0e6f76"/><path d="M3 8h3m4 0h3" stroke="#fff" stroke-width="1.5"/><circle cx="8" cy="8" r="2.5" fill="#fff"/></svg>',
)}`;

/** The HTML document around the content of a page. */
export function Layout({ title, crumbs = [], islands = [], live, instead, site, body }: Content) {
  const { now, url, theme, session, everything, file, assets, behind } = useContext(CurrentView);
  const links = useContext(CurrentLinks);
  const path = url.replace(/[?#].*$/s, '');
  const scripts = [...(live === undefined ? [] : ['live']), 'moments', ...islands].flatMap(
    (name) => assets.script(name) ?? [],
  );
  return (
    <html lang="en" data-theme={theme}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{path === '/' || site ? title : `${title} · chain-recorder`}</title>
        <link rel="icon" href={ICON} />
        {assets.style && <link rel="stylesheet" href={assets.style} />}
        {scripts.map((src) => (
          <script type="module" src={src} />
        ))}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          {site ? (
            <a class="brand" href={links.status}>
              {site.logo && <img class="logo" src={links.logo} alt="" />}
              {site.title}
            </a>
          ) : (
            <a class="brand" href="/">
              <svg viewBox="0 0 16 16" aria-hidden="true">
                <path d="M0 8h4.5m7 0H16" />
                <circle cx="8" cy="8" r="3.5" />
              </svg>
              chain-recorder
            </a>
          )}
          {everything && (
            <nav aria-label="Main">
              <LinkList
                links={navigation.map((one) => ({ ...one, current: isWithin(one.href, path) && 'page' }))}
              />
            </nav>
          )}
          {!file && (
            <form class="theme" method="post" action="/theme" aria-label="Color scheme">
              <input type="hidden" name="to" value={url} />
              {themes.map((one) => (
                <button name="theme" value={one} aria-pressed={one === theme} type="submit">
                  {one}
                </button>
              ))}
            </form>
          )}
        </header>
        {!assets.style && (
          <p>
            The styles of these pages are not built: run &quot;npm run build&quot;, and restart the recorder.
          </p>
        )}
        {live !== undefined && <p class="stale" role="status" data-stale />}
        <main
          id="main"
          tabIndex={-1}
          data-live={live}
          data-at={live === undefined ? undefined : momentText(new Date(now))}
          data-instead={instead}
        >
          {file && (
            <p class="soft">
              Generated at <Time at={new Date(now)} exact /> UTC. This page does not update.
            </p>
          )}
          <Crumbs path={crumbs} />
          {body}
        </main>
        <footer>
          <p>All times are UTC.{everything && behind !== null && ` Read from a replica, ${behind}.`}</p>
          {session && (
            <form method="post" action="/logout">
              <button class="plain" type="submit">
                Sign out
              </button>
            </form>
          )}
        </footer>
      </body>
    </html>
  );
}

/** The breadcrumbs of a page, starting with the main page. */
function Crumbs({ path }: { readonly path: readonly { readonly href: string; readonly label: string }[] }) {
  if (path.length === 0) return null;
  return (
    <nav class="crumbs" aria-label="Breadcrumbs">
      <ol>
        {path.map(({ href, label }) => (
          <li>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
