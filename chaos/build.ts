import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bundle } from '../package/bundle.ts';
import { applyPatch, type SourcePatch } from './source-patch.ts';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Builds the current recorder into `dir`, so that a run does not depend on an earlier or later build.
 * @returns the command line's file. @throws Error if a patch does not match its file
 */
export async function buildRecorder(dir: string, patches: readonly SourcePatch[] = []): Promise<string> {
  const source = join(dir, 'src');
  await cp(join(ROOT, 'src'), source, { recursive: true });
  for (const patch of patches) {
    const path = join(source, patch.file);
    await writeFile(path, applyPatch(await readFile(path, 'utf8'), patch));
  }
  await bundle(source, join(dir, 'dist'));
  // The sandbox and the styles have separate builds, which `npm ci` creates.
  for (const name of ['node_modules', 'drizzle', 'docs', 'package.json', 'dist/sandbox', 'dist/web'])
    await symlink(join(ROOT, name), join(dir, name));
  return join(dir, 'dist', 'cli.js');
}
