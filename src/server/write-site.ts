import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../lib/errors.ts';
import { createFolder, explainWriteErrors, rejectSymlinks } from '../lib/write-errors.ts';
import { FIRST_PAGE, type SiteFile } from './pages/status/files.ts';

/** File that lists the files of the site. Other files in the folder are neither replaced nor removed. */
const MANIFEST_FILE = '.chain-recorder.json';
/** Name prefix of the temporary folder for new files, inside the destination. */
const TEMPORARY_PREFIX = '.making-';
/** Minimum age at which the temporary folder of a killed run is removed, in ms. */
const ABANDONED_AGE_MS = 3_600_000;

const listSchema = z.object({
  files: z.array(z.string().regex(/^(?!\/)(?!.*\.\.)[\w.~/-]+$/)),
});

/**
 * Writes a site to a folder that a web server may serve at the same time. All files are created in a
 * temporary folder first and then renamed one by one, the first page last. So each file is replaced as a
 * whole, and a run that fails before the renames changes no page. Files of an earlier run that the site no
 * longer contains are removed; other files are kept.
 * @returns the paths of the files
 * @throws UsageError if a file of another origin has the same path, or the folder is not writable
 */
export async function writeSite(
  folder: string,
  files: AsyncIterable<SiteFile>,
  signal: AbortSignal,
): Promise<string[]> {
  return explainWriteErrors(`--out ${folder}`, async () => {
    await createFolder(folder);
    await removeAbandoned(folder);
    const before = await readManifest(folder);
    for (const path of before) await rejectSymlinks(folder, path, `--out ${folder}`);
    const making = await mkdtemp(join(folder, TEMPORARY_PREFIX));
    try {
      const paths: string[] = [];
      for await (const { path, body } of files) {
        signal.throwIfAborted();
        await rejectSymlinks(folder, path, `--out ${folder}`);
        if (!before.includes(path)) await refuseForeign(folder, path);
        await mkdir(dirname(join(making, path)), { recursive: true });
        await writeFile(join(making, path), body);
        paths.push(path);
      }
      const list = async (all: readonly string[]) => {
        await writeFile(join(making, MANIFEST_FILE), JSON.stringify({ files: [...new Set(all)].sort() }));
        await rename(join(making, MANIFEST_FILE), join(folder, MANIFEST_FILE));
      };
      await list([...before, ...paths]);
      for (const path of paths.toSorted((one, other) => rank(one) - rank(other))) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await rename(join(making, path), join(folder, path));
      }
      for (const path of before.filter((one) => !paths.includes(one))) await removeFile(folder, path);
      await list(paths);
      return paths;
    } finally {
      await rm(making, { recursive: true, force: true });
    }
  });
}

const rank = (path: string) => (path === FIRST_PAGE ? 1 : 0);

/** Returns the paths of the files of the previous run; an empty list if there was no run. */
async function readManifest(folder: string): Promise<string[]> {
  const text = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{"files":[]}';
    throw error;
  });
  try {
    return listSchema.parse(JSON.parse(text)).files;
  } catch {
    throw new UsageError([
      `--out ${folder}: ${MANIFEST_FILE} in the folder cannot be read, so files of an earlier run are unknown: use an empty folder`,
    ]);
  }
}

async function refuseForeign(folder: string, path: string): Promise<void> {
  const there = await lstat(join(folder, path)).then(
    () => true,
    () => false,
  );
  if (there)
    throw new UsageError([
      `--out ${folder}: ${path} exists and was not written by this command: move it away, or use an empty folder`,
    ]);
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(TEMPORARY_PREFIX)) continue;
    const path = join(folder, name);
    const changed = await stat(path).catch(() => null);
    if (changed && Date.now() - changed.mtimeMs > ABANDONED_AGE_MS)
      await rm(path, { recursive: true, force: true });
  }
}

/** Removes a file, and its parent folders if they are then empty. */
async function removeFile(folder: string, path: string): Promise<void> {
  await rm(join(folder, path), { force: true });
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent))
    if (
      !(await rmdir(join(folder, parent)).then(
        () => true,
        () => false,
      ))
    )
      return;
}
