import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * State folder below the current directory: the embedded database and the announcement of the bundled
 * sandbox.
 */
export const STATE_DIRECTORY = '.recorder';

/** State folder of one command. */
export interface StateDirectory {
  readonly path: string;
  /** True if the folder is removed at the end of the command. */
  readonly isTemporary: boolean;
  /** Removes a temporary folder. */
  close(): Promise<void>;
}

/** Returns the state folder of the current directory, which may not exist yet. */
export const ownStateDirectory = (): StateDirectory => ({
  path: resolve(STATE_DIRECTORY),
  isTemporary: false,
  close: async () => {},
});

/**
 * Returns the state folder of the current directory, or a temporary folder if there is no record. For
 * commands that create nothing.
 * @param databaseUrl undefined: the record uses an embedded database
 */
export async function existingStateDirectory(databaseUrl: string | undefined): Promise<StateDirectory> {
  // The path is absolute, so that a removed current directory is an error, not a directory without a record.
  const needed = resolve(databaseUrl === undefined ? join(STATE_DIRECTORY, 'postgres') : STATE_DIRECTORY);
  if (existsSync(needed)) return ownStateDirectory();
  const path = await mkdtemp(join(tmpdir(), 'chain-recorder-'));
  await chmod(path, 0o755); // as root, the embedded server runs as another user
  return { path, isTemporary: true, close: () => rm(path, { recursive: true, force: true }) };
}
