import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import postgres from 'postgres';
import { z } from 'zod';
import { Child } from './child.ts';
import { startDatabase } from './database.ts';

const runShape = z.object({ rows: z.number(), milliseconds: z.number(), peakRss: z.number() });
const serviceShape = z.object({ port: z.number() });

/** One timed run of a contender; `peakRss` is the most that its process ever held, in bytes. */
export type Run = z.infer<typeof runShape>;

/** Where contenders meet: the services and the database, each in processes of their own. */
export interface Arena {
  /** For what stands between the timed runs. */
  readonly sql: postgres.Sql;
  /**
   * Starts a contender in a process of its own.
   * @param list the lists that it takes, where it takes lists
   * @returns what times one run of it; which round it is matters to lists only
   */
  open(contender: string, list?: string): Promise<(round?: number) => Promise<Run>>;
}

/**
 * Makes the contenders one plain module, as the recorder is one for its users: what compiles TypeScript is no memory of theirs.
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

/** Starts services and database, has them used, and ends everything that was started, however the use ends. */
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
      return (round = 0) => child.ask(String(round), runShape);
    };
    return await use({ sql, open });
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
