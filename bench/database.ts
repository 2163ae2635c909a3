import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../src/db/embedded/embedded.ts';
import type { Settings } from '../src/db/embedded/settings.ts';
import { migrate } from '../src/reporting/views/migrate.ts';

/** A PostgreSQL server of the benchmark. */
export interface BenchDatabase {
  readonly url: string;
  /** Stops the server and removes its data. */
  close(): Promise<void>;
}

const quiet = { info() {}, warn() {} };

/**
 * Starts an embedded PostgreSQL in a new directory, with the settings of users except the given ones, and migrates it.
 */
export async function startDatabase(settings: Settings = {}): Promise<BenchDatabase> {
  const dir = await mkdtemp(join(tmpdir(), 'chain-recorder-bench-'));
  const remove = async () => {
    // Root's data may be elsewhere, behind a link.
    const home = await realpath(join(dir, 'postgres')).catch(() => dir);
    for (const path of [home, dir]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await chmod(dir, 0o755); // the server's account needs access
    const server = await openEmbedded({ dir, log: quiet, settings });
    const close = async () => {
      await server.close();
      await remove();
    };
    await migrate(server.url).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    return { url: server.url, close };
  } catch (error) {
    await remove();
    throw error;
  }
}
