import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRecorder } from './build.ts';
import type { Closers } from './closers.ts';
import type { Options } from './options.ts';
import { PostgresServer } from './servers/postgres-server.ts';
import type { Setting } from './world.ts';

/** Builds the recorder and starts the PostgreSQL of a run; `closers` end it. */
export async function openStage(options: Options, closers: Closers): Promise<Setting> {
  const dir = await mkdtemp(join(tmpdir(), 'chaos-'));
  await chmod(dir, 0o755); // as root the server runs as another user
  closers.add(() => rm(dir, { recursive: true, force: true }));
  const cli = await buildRecorder(join(dir, 'recorder'));
  const starting = PostgresServer.start(join(dir, 'database'));
  // A stopped run waits for this: it cannot be ended halfway.
  closers.add(() =>
    starting.then(
      (postgres) => postgres.stop(),
      () => {},
    ),
  );
  return { options, cli, postgres: await starting };
}
