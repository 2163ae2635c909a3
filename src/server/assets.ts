import { existsSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { packageFile } from '../lib/package-file.ts';

/** The styles and islands as `vite build web` left them, by their hashed names. */
export interface Assets {
  /** The path of the styles; null: they were not built. */
  readonly style: string | null;
  /** The path of an island, by the name of its file in `web/` without the ending; null: it was not built. */
  script(name: string): string | null;
  /** The files, by their path below `/assets/`. */
  readonly files: ReadonlyMap<string, Asset>;
}

interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const PLACE = packageFile('dist/web/');

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
 * Reads all of them once. Where they were not built there are none: pages say so, and are readable without.
 * @throws Error when what was built cannot be read
 */
export function readAssets(): Assets {
  const list = new URL('manifest.json', PLACE);
  if (!existsSync(list)) return { style: null, script: () => null, files: new Map() };
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(list, 'utf8')));
  const names = new Set(Object.values(manifest).flatMap(({ file, css }) => [file, ...css]));
  const files = new Map(
    [...names].map((name): [string, Asset] => {
      const type = TYPES[extname(name)];
      if (!type) throw new Error(`${name}: src/server/assets.ts knows no type for it`);
      return [name, { type, body: readFileSync(new URL(name, PLACE)) }];
    }),
  );
  const path = (source: string) => (manifest[source] ? `/assets/${manifest[source].file}` : null);
  return { style: path('style.css'), script: (name) => path(`${name}.ts`), files };
}

/** Serves them at `/assets/`. A name says what is in a file, so that it may be kept for ever. */
export function serveAssets(server: FastifyInstance, { files }: Assets): void {
  for (const [name, { type, body }] of files)
    server.get(`/assets/${name}`, async (_request, reply) =>
      reply.type(type).header('cache-control', 'public, max-age=31536000, immutable').send(body),
    );
}
