import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { packageFile } from '../lib/package-file.ts';

/** The styles and islands that `vite build web` created, by their hashed names. */
export interface Assets {
  /** The path of the styles; null if they were not built. */
  readonly style: string | null;
  /**
   * Returns the path of an island; null if it was not built.
   * @param name file name in `web/` without the extension
   */
  script(name: string): string | null;
  /** The files, by their path below `/assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const ASSETS_DIRECTORY = packageFile('dist/web/');

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const manifestSchema = z.record(
  z.string(),
  z.object({ file: z.string(), css: z.array(z.string()).default([]) }),
);

/**
 * Reads all assets. Returns no assets if `dist/web/` was not built: pages then contain a notice, and are
 * readable without styles.
 * @throws Error if a built file cannot be read
 */
export function readAssets(): Assets {
  const list = new URL('manifest.json', ASSETS_DIRECTORY);
  if (!existsSync(list)) return { style: null, script: () => null, files: new Map() };
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(list, 'utf8')));
  const names = new Set(Object.values(manifest).flatMap(({ file, css }) => [file, ...css]));
  const files = new Map(
    [...names].map((name): [string, Asset] => {
      const type = TYPES[extname(name)];
      if (!type)
        throw new Error(
          `${name}: unknown media type of an asset: add the suffix to TYPES in src/server/assets.ts`,
        );
      return [name, { type, body: readFileSync(new URL(name, ASSETS_DIRECTORY)) }];
    }),
  );
  const path = (source: string) => (manifest[source] ? `/assets/${manifest[source].file}` : null);
  return { style: path('style.css'), script: (name) => path(`${name}.ts`), files };
}

/**
 * Serves the assets at `/assets/`. The name of an asset contains a hash of the content, so that caches can
 * keep the asset without limit.
 */
export function serveAssets(server: FastifyInstance, { files }: Assets): void {
  for (const [name, { type, body }] of files)
    server.get(`/assets/${name}`, async (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=31536000, immutable').send(body),
    );
}
