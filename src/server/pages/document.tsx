import { renderToString } from 'preact-render-to-string';
import { safeDocument } from '../../lib/safe-text.ts';
import type { Content } from './page.ts';
import { Layout } from './parts/layout.tsx';
import { CurrentLinks, type StatusLinks, serverLinks } from './status/links.ts';
import { CurrentView, type View } from './view.ts';

/** The whole text of a page. @param links where the places of the status page are; absent: on the server */
export function documentOf(content: Content, view: View, links: StatusLinks = serverLinks): string {
  const page = (
    <CurrentView.Provider value={view}>
      <CurrentLinks.Provider value={links}>
        <Layout {...content} />
      </CurrentLinks.Provider>
    </CurrentView.Provider>
  );
  // What upstreams reported is in many places of a page: none is forgotten where the whole document is made safe.
  return `<!doctype html>\n${safeDocument(renderToString(page))}`;
}
