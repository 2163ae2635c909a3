import { basename, join } from 'node:path';
import { build } from 'esbuild';

/** Entry points of processes and of users' imports. */
const ENTRIES = {
  cli: 'cli.ts',
  recorder: 'recorder.ts',
  client: 'client.ts',
  'exporter-process': 'warehouse/exporter-process.ts',
};

/**
 * Bundles the sources in `src` into few files in `dist`, because a start reads hundreds of small files three times as
 * slowly. Dependencies stay in their packages, and dynamic imports stay in separate files.
 * @returns the names of the files
 * @throws Error if a source cannot be compiled
 */
export async function bundle(src: string, dist: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: Object.entries(ENTRIES).map(([out, file]) => ({ out, in: join(src, file) })),
    outdir: dist,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    metafile: true,
  });
  return Object.keys(metafile.outputs).map((path) => basename(path));
}
