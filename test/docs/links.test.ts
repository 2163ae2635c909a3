import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { documents } from './documents.ts';

const all = documents();
const withoutCode = (text: string) => text.replace(/^ *```.*?^ *```$/gms, '').replace(/`[^`\n]*`/g, '``');

/** Returns the anchors of a document's headings, as GitHub forms them. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replace(/^ *```.*?^ *```$/gms, '').matchAll(/^#+ (.+)$/gm);
  const counts = new Map<string, number>();
  return new Set(
    [...headings].map(([, heading = '']) => {
      const anchor = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
      const count = counts.get(anchor) ?? 0;
      counts.set(anchor, count + 1);
      return count === 0 ? anchor : `${anchor}-${count}`;
    }),
  );
}

const anchors = new Map(all.map(({ path, text }) => [path, anchorsOf(text)]));

it.each(all.map(({ path, text }) => [path, text] as const))('links of %s can be opened', (path, text) => {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file));
    if (!existsSync(new URL(`../../${target}`, import.meta.url))) return true;
    return anchor !== undefined && !anchors.get(target)?.has(anchor);
  });
  expect(broken).toEqual([]);
});

it('files of the repository that documents name exist', () => {
  const files =
    /(?<![\w./-])(?:src|test|scripts|sandbox|bench|chaos|web|docs|examples|drizzle)\/[\w./-]+\.(?:tsx?|sql|md|ya?ml|css|gz)\b/g;
  const named = all.flatMap(({ path, text }) => (text.match(files) ?? []).map((file) => `${path}: ${file}`));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((one) => !existsSync(new URL(`../../${one.split(': ')[1]}`, import.meta.url)))).toEqual(
    [],
  );
});

it('every document below docs/ is linked from another one', () => {
  const linked = new Set(
    all.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s#]+\.md)/g)].map(([, link = '']) =>
        posix.normalize(posix.join(posix.dirname(path), link)),
      ),
    ),
  );
  expect(all.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !linked.has(path))).toEqual(
    [],
  );
});
