import { statfs } from 'node:fs/promises';
import type { Checked } from '../lib/check-result.ts';

const GB = 1e9;
/** PostgreSQL needs room beside its data, such as for its log; bytes. */
const NEEDED = 2 * GB;

/** Whether there is room on the disk of a folder. @param needed bytes that must be free */
export async function examineDisk(folder: string, needed = NEEDED): Promise<Checked> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${(free / GB).toFixed(1)} GB are free where ${folder} is`;
  if (free >= needed) return { check: 'disk', ok: true, found };
  return {
    check: 'disk',
    ok: false,
    found: `the disk is nearly full: ${found}`,
    mend: 'free some, or move the directory to a larger disk and start there; a full disk stops the recording',
  };
}
