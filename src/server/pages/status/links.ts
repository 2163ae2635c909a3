import { createContext } from 'preact';

/** URLs of the status pages, which are paths of the server or files. */
export interface StatusLinks {
  readonly status: string;
  /**
   * Returns the URL of the page of a node.
   * @param range one of the usual ranges. Default: 90 days
   */
  node(node: string, range?: string): string;
  /**
   * Returns the URL of the page of a node over any range; null in files, which have only the usual ranges.
   */
  range(node: string, params: Readonly<Record<string, string>>): string | null;
  readonly logo: string;
}

const pathPart = (node: string) => encodeURIComponent(node);

const withQuery = (path: string, params: Readonly<Record<string, string>>) =>
  Object.keys(params).length === 0 ? path : `${path}?${new URLSearchParams(params)}`;

/** The URLs on the server. */
export const serverLinks: StatusLinks = {
  status: '/status',
  node: (node, range) => withQuery(`/status/${pathPart(node)}`, range === undefined ? {} : { range }),
  range: (node, params) => withQuery(`/status/${pathPart(node)}`, params),
  logo: '/status.logo',
};

/** The URLs for the page that is being rendered. */
export const CurrentLinks = createContext<StatusLinks>(serverLinks);

/** Returns the URL of the page of a single window; null if the window is too short or in files. */
export function finer(
  links: StatusLinks,
  node: string,
  { from, to }: { readonly from: number; readonly to: number },
): string | null {
  if (to - from <= 60_000) return null;
  const text = (at: number) => new Date(at).toISOString().replace(/(:00)?\.000Z$/, '');
  return links.range(node, { from: text(from), to: text(to) });
}
