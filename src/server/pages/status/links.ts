import { createContext } from 'preact';

/** Where the places of the status page are: paths of the server, or files. */
export interface StatusLinks {
  readonly status: string;
  /** The page of a node. @param range one of the usual ranges; absent: the default */
  node(node: string, range?: string): string;
  /** The page of a node over any range; null: there is none, because nobody can answer it. */
  range(node: string, asked: Readonly<Record<string, string>>): string | null;
  readonly logo: string;
}

/** A node's name as a part of a path. */
const pathPart = (node: string) => encodeURIComponent(node);

const withQuery = (path: string, asked: Readonly<Record<string, string>>) =>
  Object.keys(asked).length === 0 ? path : `${path}?${new URLSearchParams(asked)}`;

/** The places of the server. */
export const serverLinks: StatusLinks = {
  status: '/status',
  node: (node, range) => withQuery(`/status/${pathPart(node)}`, range === undefined ? {} : { range }),
  range: (node, asked) => withQuery(`/status/${pathPart(node)}`, asked),
  logo: '/status.logo',
};

/** The links of the page that is rendered. */
export const CurrentLinks = createContext<StatusLinks>(serverLinks);

/** The page of a window alone; null: it cannot be cut further, or there is no such page. */
export function finer(
  links: StatusLinks,
  node: string,
  { from, to }: { readonly from: number; readonly to: number },
): string | null {
  if (to - from <= 60_000) return null;
  const text = (at: number) => new Date(at).toISOString().replace(/(:00)?\.000Z$/, '');
  return links.range(node, { from: text(from), to: text(to) });
}
