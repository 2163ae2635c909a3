import { open } from 'node:fs/promises';

/**
 * Creates a file and waits until its content is on disk (fsync).
 * @throws Error with the code `EEXIST` if the file exists
 */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Waits until the directory entries of a folder are on disk (fsync). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
