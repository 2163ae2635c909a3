import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import postgres from 'postgres';
import { z } from 'zod';
import { Child } from './child.ts';
import { startDatabase } from './database.ts';

const runShape = z.object({ rows: z.number(), milliseconds: z.number(), peakRss: z.number() });
const serviceShape = z.object({ port: z.number() });

/** One timed run of a contender; `peakRss` is the maximum memory of its process, in bytes. */
export type Run = z.infer<typeof runShape>;

/** The services and the database, each in their own processes, for all contenders. */
export interface Arena {
  /** For tasks between the timed runs. */
  readonly sql: postgres.Sql;
  /**
   * Starts a contender in its own process.
   * @param list the lists that it uses, if any
   * @returns a function that times one run; only lists depend on the number of the round
   */
  open(contender: string, list?: string): Promise<(round?: number) => Promise<Run>>;
}

/**
 * Bundles the contenders into one plain module, like the recorder for its users: the TypeScript compiler is no memory
 * of theirs.
 * @returns its URL
 */
async function bundleContenders(): Promise<string> {
  const url = new URL('../node_modules/.cache/bench/contenders.mjs', import.meta.url);
  await build({
    entryPoints: [fileURLToPath(new URL('contenders/main.ts', import.meta.url))],
    outfile: fileURLToPath(url),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return url.href;
}

/**
 * Starts services and database, calls a function with them, and ends everything that was started, however the function
 * ends.
 */
export async function withArena<T>(
  rows: number,
  signal: AbortSignal,
  use: (arena: Arena) => Promise<T>,
): Promise<T> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const service = await Child.start('service/main.ts', [String(rows)], serviceShape, signal);
    closers.push(() => service.child.stop());
    const database = await startDatabase();
    closers.push(() => database.close());
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    closers.push(() => sql.end({ timeout: 5 }));
    const contenders = await bundleContenders();
    const setup = { serviceUrl: `http://127.0.0.1:${service.first.port}`, databaseUrl: database.url, rows };
    const open = async (contender: string, list?: string) => {
      const { child } = await Child.start(
        contenders,
        [contender, JSON.stringify({ ...setup, list })],
        z.literal('ready'),
        signal,
      );
      closers.push(() => child.stop());
      return (round = 0) => child.request(String(round), runShape);
    };
    return await use({ sql, open });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
