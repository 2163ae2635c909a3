import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Why a file cannot be written, and what mends it; null: it can, also where it is not there yet. */
export function unwritable(file: string): string | null {
  const folder = dirname(resolve(file));
  if (!isFolder(folder)) return `there is no folder ${folder}: make it first`;
  if (isFolder(file)) return 'is a folder: name a file in it';
  try {
    accessSync(existsSync(file) ? file : folder, constants.W_OK);
    return null;
  } catch {
    return `you may not write into ${folder}: name another place`;
  }
}

const isFolder = (path: string) => existsSync(path) && statSync(path).isDirectory();
