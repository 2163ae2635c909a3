import { warehouseTables } from './export-table.ts';
import { BOOKKEEPING_FOLDER, type Manifest, manifestPaths } from './manifest.ts';
import type { ExportTarget } from './target.ts';

/** Number and id of an export, which are part of its file names. */
export type ExportId = Pick<Manifest, 'export' | 'id'>;

/**
 * Folder of the exports that have started and are not finished: an empty file for each. Without these files, the
 * files of a killed export could not be distinguished from files of users.
 */
const FOLDER = 'unfinished/';

/** Returns the part of file names that identifies an export. */
export const exportMark = ({ export: number, id }: ExportId): string =>
  `${String(number).padStart(8, '0')}-${id.slice(0, 8)}`;

/** Announces an export before its first file. */
export async function announceExport(target: ExportTarget, one: ExportId): Promise<void> {
  await target.create(FOLDER + exportMark(one), '');
}

/** Removes the files of a failed export, then its announcement. */
export async function withdrawExport(
  target: ExportTarget,
  one: ExportId,
  paths: readonly string[],
): Promise<void> {
  await target.remove(paths);
  await target.remove([FOLDER + exportMark(one)]);
}

/**
 * Removes the announcement of a completed export, and the files of announced exports that can no longer complete,
 * because their manifest number is used. Exports with higher numbers may be running.
 * @param manifest manifest of the completed export; its files and the superseded files stay
 */
export async function removeUnfinishedExports(target: ExportTarget, manifest: Manifest): Promise<void> {
  const own = exportMark(manifest);
  const ended = (await target.list(FOLDER, ''))
    .map((path) => path.slice(FOLDER.length))
    .filter((mark) => /^\d{8}-[0-9a-f]{8}$/.test(mark) && Number(mark.slice(0, 8)) <= manifest.export);
  const lost = ended.filter((mark) => mark !== own);
  if (lost.length > 0) await removeFiles(target, lost, new Set(manifestPaths(manifest)));
  await target.remove(ended.map((mark) => FOLDER + mark));
}

/** Removes the files of exports, except the files that a manifest names. */
async function removeFiles(
  target: ExportTarget,
  marks: readonly string[],
  named: ReadonlySet<string>,
): Promise<void> {
  for (const folder of [...warehouseTables.map(({ name }) => name), BOOKKEEPING_FOLDER]) {
    const paths = [...(await target.sizes(folder)).keys()];
    await target.remove(
      paths.filter((path) => !named.has(path) && marks.some((mark) => path.includes(`/part-${mark}-`))),
    );
  }
}
