import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bundle } from '../package/bundle.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** A change to one file of `src/`, by which a bug is inserted into a copy of the recorder. */
export interface Patch {
  /** Below `src/`. */
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
}

/**
 * Builds the current recorder into `dir`, so that a run does not depend on an earlier or later build.
 * @returns the command line's file. @throws Error if a patch changes nothing
 */
export async function buildRecorder(dir: string, patches: readonly Patch[] = []): Promise<string> {
  const source = join(dir, 'src');
  await cp(join(ROOT, 'src'), source, { recursive: true });
  for (const { file, from, to } of patches) {
    const text = await readFile(join(source, file), 'utf8');
    const changed = text.replace(from, to);
    if (changed === text) throw new Error(`a bug can no longer be planted: ${file} has changed`);
    await writeFile(join(source, file), changed);
  }
  await bundle(source, join(dir, 'dist'));
  // The sandbox and the styles have separate builds, which `npm ci` creates.
  for (const name of ['node_modules', 'drizzle', 'docs', 'package.json', 'dist/sandbox', 'dist/web'])
    await symlink(join(ROOT, name), join(dir, name));
  return join(dir, 'dist', 'cli.js');
}
