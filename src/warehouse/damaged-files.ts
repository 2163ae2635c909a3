import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sha256Of } from './hashed-file.ts';
import { BOOKKEEPING_FOLDER, type Manifest } from './manifest.ts';
import type { ExportTarget } from './target.ts';

/** A file that differs from its description in the manifest. */
export interface DamagedFile {
  readonly table: string;
  readonly path: string;
  readonly problem: 'missing' | 'size' | 'content';
}

/** Files of a manifest to compare with the target. */
export interface FileCheck {
  readonly target: ExportTarget;
  readonly manifest: Manifest;
  /** Tables whose files are compared. */
  readonly tables: readonly string[];
  /** True: also compares the files of the bookkeeping. */
  readonly bookkeeping: boolean;
  /** True: reads every file and compares its SHA-256. */
  readonly hashes: boolean;
  /** A local folder for downloaded files. */
  readonly scratch: string;
  readonly signal: AbortSignal;
}

/**
 * Compares the files of a manifest with the files of the target: names and sizes, and on request their
 * content.
 */
export async function findDamagedFiles(check: FileCheck): Promise<DamagedFile[]> {
  const { target, manifest, tables, bookkeeping } = check;
  const damaged: DamagedFile[] = [];
  for (const table of tables)
    damaged.push(...(await damagedIn(check, table, table, manifest.tables[table]?.files ?? [])));
  if (!bookkeeping) return damaged;
  const sizes = await target.sizes(BOOKKEEPING_FOLDER);
  for (const [table, { files }] of Object.entries(manifest.bookkeeping?.tables ?? {}))
    damaged.push(...(await damagedIn(check, table, sizes, files)));
  return damaged;
}

interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Returns the damaged files of a table.
 * @param place sizes of the files by path, or the folder to list
 */
async function damagedIn(
  check: FileCheck,
  table: string,
  place: ReadonlyMap<string, number> | string,
  files: readonly ListedFile[],
): Promise<DamagedFile[]> {
  if (files.length === 0) return [];
  const sizes = typeof place === 'string' ? await check.target.sizes(place) : place;
  const damaged: DamagedFile[] = [];
  for (const file of files) {
    check.signal.throwIfAborted();
    const problem = await problemOf(check, sizes.get(file.path), file);
    if (problem) damaged.push({ table, path: file.path, problem });
  }
  return damaged;
}

async function problemOf(
  { target, hashes, scratch, signal }: FileCheck,
  size: number | undefined,
  { path, bytes, sha256 }: ListedFile,
): Promise<DamagedFile['problem'] | null> {
  if (size === undefined) return 'missing';
  if (size !== bytes) return 'size';
  if (!hashes) return null;
  const local = await target.fetch(path, scratch);
  try {
    return (await sha256Of(local, signal)) === sha256 ? null : 'content';
  } finally {
    if (dirname(local) === scratch) await rm(local, { force: true });
  }
}
