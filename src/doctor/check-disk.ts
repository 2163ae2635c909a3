import { statfs } from 'node:fs/promises';
import type { CheckResult } from '../lib/check-result.ts';

const GB = 1e9;
/** Free space that PostgreSQL needs in addition to its data, for example for its WAL, in bytes. */
const MIN_FREE_BYTES = 2 * GB;

/** Checks the free space on the disk of a folder. @param needed minimum free space, in bytes */
export async function checkDisk(folder: string, needed = MIN_FREE_BYTES): Promise<CheckResult> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${(free / GB).toFixed(1)} GB are free where ${folder} is`;
  if (free >= needed) return { check: 'disk', ok: true, found };
  return {
    check: 'disk',
    ok: false,
    found: `the disk is nearly full: ${found}`,
    fix: 'free some, or move the directory to a larger disk and start there; a full disk stops the recording',
  };
}
