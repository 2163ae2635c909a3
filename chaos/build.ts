import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '..');

/** A change to one file of `src/`, by which a bug is planted in a copy of the recorder. */
export interface Patch {
  /** Below `src/`. */
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
}

/**
 * Compiles the recorder as it stands into `dir`, so that a run neither depends on an earlier build nor suffers from a
 * later one.
 * @returns the command line's file. @throws Error when a patch changes nothing
 */
export async function buildRecorder(dir: string, patches: readonly Patch[] = []): Promise<string> {
  const source = join(ROOT, 'src');
  const files = (await readdir(source, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
  const left = new Set(patches);
  for (const name of files) {
    let text = await readFile(join(source, name), 'utf8');
    for (const patch of patches.filter(({ file }) => file === name)) {
      const changed = text.replace(patch.from, patch.to);
      if (changed !== text) left.delete(patch);
      text = changed;
    }
    const { outputText } = ts.transpileModule(text, {
      fileName: name,
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
        jsx: ts.JsxEmit.ReactJSX,
        jsxImportSource: 'preact',
      },
    });
    const out = join(dir, 'dist', name.replace(/\.tsx?$/, '.js'));
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, outputText);
  }
  await cp(join(source, 'views', 'sql'), join(dir, 'dist', 'views', 'sql'), { recursive: true });
  for (const { file } of left) throw new Error(`a bug can no longer be planted: ${file} has changed`);
  // The sandbox and the styles have builds of their own, which `npm ci` makes.
  for (const name of ['node_modules', 'drizzle', 'docs', 'package.json', 'dist/sandbox', 'dist/web'])
    await symlink(join(ROOT, name), join(dir, name));
  return join(dir, 'dist', 'cli.js');
}
