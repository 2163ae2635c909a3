import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { nodeRange, readFirstProbe } from '../../../reporting/reports/nodes/node-range.ts';
import { type NodeStatus, nodesStatus } from '../../../reporting/reports/nodes/nodes-status.ts';
import type { Assets } from '../../assets.ts';
import { badgeOf, badgeRanges } from '../../badge.tsx';
import type { StatusSite } from '../../status-site.ts';
import { documentOf } from '../document.tsx';
import type { Content } from '../page.ts';
import type { StatusLinks } from './links.ts';
import { nodeContent } from './node.tsx';
import { parseRange, usualNames } from './requested-range.tsx';
import { statusContent } from './status.tsx';

/** A file of the site, with its path relative to the folder of the first page. */
export interface SiteFile {
  readonly path: string;
  readonly body: string | Buffer;
}

/** Path of the first page. */
export const FIRST_PAGE = 'index.html';
/** Default range of the page of a node. */
const DEFAULT_RANGE = '90d';

/**
 * Generates the status pages as files, one after the other. The files are the first page, and for each node a
 * folder with its badges and a page for each usual range. Links are relative, so that the files work in any
 * folder. No page needs a script.
 * @param now ms since 1970
 * @throws Error if the styles are not built
 */
export async function* statusFiles(
  sql: postgres.Sql,
  { site, assets, now }: { readonly site: StatusSite; readonly assets: Assets; readonly now: number },
): AsyncGenerator<SiteFile> {
  const { style } = assets;
  if (style === null) throw new Error('the styles of the pages are not built: run "npm run build"');
  const status = await nodesStatus(sql, site, now);
  const folders = foldersOf(status.nodes.map(({ node }) => node));
  const folderOf = (node: string) => folders.get(node) ?? '';
  const page = (path: string, content: Content): SiteFile => {
    const root = path === FIRST_PAGE ? '' : '../../';
    const view = {
      now,
      url: '/status',
      theme: 'auto',
      session: false,
      everything: false,
      file: true,
      behind: null,
      assets: { style: root + style.slice(1), script: () => null, files: new Map() },
    } as const;
    return { path, body: documentOf(content, view, fileLinks(root, folderOf, site)) };
  };
  for (const [name, { body }] of assets.files)
    if (style === `/assets/${name}`) yield { path: style.slice(1), body };
  if (site.logo) yield { path: logoFile(site), body: site.logo.body };
  for (const node of status.nodes) {
    yield* badges(node, folderOf(node.node));
    const firstProbeAt = await readFirstProbe(sql, node.node);
    for (const range of usualNames) {
      const params = parseRange({ range }, now, firstProbeAt?.getTime() ?? null);
      const record = await nodeRange(sql, node.node, params, params.grain, firstProbeAt, now);
      const content = nodeContent({ range: record, params, status, now: node, site });
      yield page(`${folderOf(node.node)}/${rangeFile(range)}`, content);
    }
  }
  yield page(FIRST_PAGE, statusContent(status, site));
}

function* badges(node: NodeStatus, folder: string): Generator<SiteFile> {
  yield { path: `${folder}/badge.svg`, body: badgeOf(node) };
  for (const range of badgeRanges) yield { path: `${folder}/badge-${range}.svg`, body: badgeOf(node, range) };
}

const rangeFile = (range: string) => (range === DEFAULT_RANGE ? 'index.html' : `${range}.html`);
const logoFile = ({ logo }: StatusSite) => `logo${logo?.ending ?? ''}`;

/**
 * Returns the URLs of the files.
 * @param root path from a page to the folder of the first page
 */
const fileLinks = (root: string, folderOf: (node: string) => string, site: StatusSite): StatusLinks => ({
  status: root + FIRST_PAGE,
  node: (node, range = DEFAULT_RANGE) => `${root}${folderOf(node)}/${rangeFile(range)}`,
  range: () => null,
  logo: root + logoFile(site),
});

/**
 * Maximum length of the name of a node in the name of a folder, in characters. File systems allow 255 bytes.
 */
const MAX_FOLDER_CHARACTERS = 120;

/**
 * Returns the folder of each node, by its name. Characters that some file systems or URLs do not allow are
 * encoded as `~` and their bytes. Names that differ only in case, and long names, get a hash as a suffix,
 * for the limits of file systems.
 */
export function foldersOf(nodes: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(nodes.map((node) => [node, plainName(node)]));
  const counts = new Map<string, number>();
  for (const name of plain.values())
    counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return new Map(
    [...plain].map(([node, name]) => {
      const apart = (counts.get(name.toLowerCase()) ?? 0) > 1 || name.length > MAX_FOLDER_CHARACTERS;
      const hash = createHash('sha256').update(node).digest('hex').slice(0, 12);
      return [node, `nodes/${apart ? `${name.slice(0, MAX_FOLDER_CHARACTERS)}~${hash}` : name}`];
    }),
  );
}

const plainName = (node: string) =>
  // A leading dot hides a file, and some systems remove a trailing dot.
  node.replaceAll(/^\.|\.$|[^A-Za-z0-9._-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `~${byte.toString(16).padStart(2, '0')}`).join(''),
  );
