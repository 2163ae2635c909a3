import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeSite } from '../../src/server/write-site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder('write-site');

const signal = new AbortController().signal;
const PATHS = ['nodes/one/index.html', 'nodes/one/badge.svg', 'index.html'];

async function* site(body: string) {
  for (const path of PATHS) yield { path, body };
}

/** A folder with a site, and a folder of another program beside it. */
async function writeSiteBeside(name: string) {
  const [root, theirs] = [join(folder, name), join(folder, `${name}-theirs`)];
  mkdirSync(join(theirs, 'one'), { recursive: true });
  for (const path of ['one/index.html', 'index.html']) writeFileSync(join(theirs, path), 'theirs');
  await writeSite(root, site('first'), signal);
  return { root, theirs };
}

it.each(['nodes', 'nodes/one'])('follows no symbolic link at the path of the folder %s', async (part) => {
  const { root, theirs } = await writeSiteBeside(part.replace('/', '-'));
  rmSync(join(root, part), { recursive: true });
  symlinkSync(part === 'nodes' ? theirs : join(theirs, 'one'), join(root, part));
  await expect(writeSite(root, site('second'), signal)).rejects.toThrow(/nodes.* is a symbolic link/);
  const files = readdirSync(theirs, { recursive: true }).map(String).sort();
  expect(files).toEqual(['index.html', 'one', 'one/index.html']);
  expect(readFileSync(join(theirs, 'one/index.html'), 'utf8')).toBe('theirs');
  expect(readFileSync(join(root, 'index.html'), 'utf8')).toBe('first');
});

it('removes nothing behind a link whose files an earlier list names', async () => {
  const { root, theirs } = await writeSiteBeside('listed');
  symlinkSync(theirs, join(root, 'old'));
  writeFileSync(join(root, '.chain-recorder.json'), JSON.stringify({ files: [...PATHS, 'old/index.html'] }));
  await expect(writeSite(root, site('second'), signal)).rejects.toThrow(/old is a symbolic link/);
  expect(readFileSync(join(theirs, 'index.html'), 'utf8')).toBe('theirs');
});

it('replaces a link at the path of its own file, and refuses one of another program, also a dangling one', async () => {
  const { root, theirs } = await writeSiteBeside('file');
  rmSync(join(root, 'index.html'));
  symlinkSync(join(theirs, 'index.html'), join(root, 'index.html'));
  await writeSite(root, site('second'), signal);
  expect(readFileSync(join(root, 'index.html'), 'utf8')).toBe('second');
  expect(readFileSync(join(theirs, 'index.html'), 'utf8')).toBe('theirs');

  const other = join(folder, 'dangling');
  mkdirSync(other);
  symlinkSync(join(folder, 'nowhere'), join(other, 'index.html'));
  await expect(writeSite(other, site('first'), signal)).rejects.toThrow(
    /index.html exists and was not written by this command/,
  );
});
