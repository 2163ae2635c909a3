import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The folder of a directory's record: the embedded database, and what the bundled sandbox announces. */
export const STATE_DIRECTORY = '.recorder';

/** A folder for the state of one command. */
export interface StateDirectory {
  readonly path: string;
  /** Whether it ends with the command. */
  readonly isTemporary: boolean;
  /** Removes a temporary folder. */
  close(): Promise<void>;
}

/** The folder that this directory's record has, or will have. */
export const ownStateDirectory = (): StateDirectory => ({
  path: resolve(STATE_DIRECTORY),
  isTemporary: false,
  close: async () => {},
});

/**
 * The folder of this directory's record for a command that creates nothing: a temporary one if there is no record.
 * @param databaseUrl undefined: the record needs an embedded database
 */
export async function existingStateDirectory(databaseUrl: string | undefined): Promise<StateDirectory> {
  // An absolute path: a current folder that was removed is an error, not a folder without a record.
  const needed = resolve(databaseUrl === undefined ? join(STATE_DIRECTORY, 'postgres') : STATE_DIRECTORY);
  if (existsSync(needed)) return ownStateDirectory();
  const path = await mkdtemp(join(tmpdir(), 'chain-recorder-'));
  await chmod(path, 0o755); // as root the embedded server runs as another user
  return { path, isTemporary: true, close: () => rm(path, { recursive: true, force: true }) };
}
