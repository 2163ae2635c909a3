import { renderToString } from 'preact-render-to-string';
import { escapeHtmlDocument } from '../../lib/safe-text.ts';
import type { Content } from './page.ts';
import { Layout } from './parts/layout.tsx';
import { CurrentLinks, type StatusLinks, serverLinks } from './status/links.ts';
import { CurrentView, type RenderContext } from './view.ts';

/**
 * Renders a page as an HTML document.
 * @param links URLs of the status page. Default: the URLs on the server
 */
export function documentOf(content: Content, view: RenderContext, links: StatusLinks = serverLinks): string {
  const page = (
    <CurrentView.Provider value={view}>
      <CurrentLinks.Provider value={links}>
        <Layout {...content} />
      </CurrentLinks.Provider>
    </CurrentView.Provider>
  );
  // Texts from upstreams are in many places of a page, so the whole document is sanitized.
  return `<!doctype html>\n${escapeHtmlDocument(renderToString(page))}`;
}
