import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { syncFolder, writeDurably } from '../lib/durable-file.ts';
import { createFolder, rejectSymlinks } from '../lib/write-errors.ts';
import type { ExportTarget } from './target.ts';

/** Folder of unfinished files. Readers ignore this name. */
const SCRATCH_FOLDER = '.incomplete';
/** Age of a scratch folder after which its exporter is assumed dead, in ms. */
const SCRATCH_EXPIRY_MS = 24 * 3_600_000;

/** Export target in a local folder, which is created if missing. */
export class DirectoryTarget implements ExportTarget {
  readonly name: string;
  readonly local: string;
  readonly #root: string;
  readonly #scratch: string;

  /** @param named the folder with the option or setting that names it, such as `--to /var/lake` */
  constructor(directory: string, named = directory) {
    this.name = directory;
    this.local = named;
    this.#root = resolve(directory);
    this.#scratch = join(this.#root, SCRATCH_FOLDER, randomUUID());
  }

  async scratch(): Promise<string> {
    const all = join(this.#root, SCRATCH_FOLDER);
    await rejectSymlinks(this.#root, `${SCRATCH_FOLDER}/any`, this.local);
    await createFolder(all);
    for (const one of await readdir(all)) {
      const stats = await stat(join(all, one)).catch(() => null);
      if (stats && stats.mtimeMs < Date.now() - SCRATCH_EXPIRY_MS)
        await rm(join(all, one), { recursive: true, force: true });
    }
    await createFolder(this.#scratch);
    return this.#scratch;
  }

  async take(file: string, path: string): Promise<void> {
    const place = join(this.#root, path);
    await rejectSymlinks(this.#root, path, this.local);
    await createFolder(dirname(place));
    await rename(file, place);
    await syncFolder(dirname(place));
  }

  async read(path: string): Promise<string | null> {
    try {
      return await readFile(join(this.#root, path), 'utf8');
    } catch (error) {
      if (isCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  async fetch(path: string): Promise<string> {
    return join(this.#root, path);
  }

  async create(path: string, text: string): Promise<boolean> {
    const place = join(this.#root, path);
    await rejectSymlinks(this.#root, path, this.local);
    const beside = await this.#written(text);
    await createFolder(dirname(place));
    try {
      // Creating a link is atomic and fails if the path exists.
      await link(beside, place);
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    } finally {
      await rm(beside, { force: true });
    }
    await syncFolder(dirname(place));
    return true;
  }

  async replace(path: string, text: string): Promise<void> {
    await this.take(await this.#written(text), path);
  }

  async list(prefix: string, after: string): Promise<string[]> {
    const folder = dirname(`${prefix}-`);
    const names = await readdir(join(this.#root, folder)).catch((error: unknown) => {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    });
    return names
      .map((name) => `${folder}/${name}`)
      .filter((path) => path.startsWith(prefix) && path > after)
      .sort();
  }

  async sizes(folder: string): Promise<ReadonlyMap<string, number>> {
    await rejectSymlinks(this.#root, `${folder}/any`, this.local);
    const root = join(this.#root, folder);
    const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    });
    const sizes = new Map<string, number>();
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      // The file may be removed meanwhile.
      const found = await stat(path).catch(() => null);
      if (found) sizes.set(relative(this.#root, path).replaceAll('\\', '/'), found.size);
    }
    return sizes;
  }

  async remove(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await rejectSymlinks(this.#root, path, this.local);
      await rm(join(this.#root, path), { force: true });
    }
  }

  async close(): Promise<void> {
    if (existsSync(this.#scratch)) await rm(this.#scratch, { recursive: true });
  }

  async #written(text: string): Promise<string> {
    await createFolder(this.#scratch);
    const path = join(this.#scratch, randomUUID());
    await writeDurably(path, text);
    return path;
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
