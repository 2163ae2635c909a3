import { randomUUID } from 'node:crypto';
import { writingTo } from '../lib/write-errors.ts';
import { currentManifest } from './manifest.ts';
import type { Target } from './target.ts';

/** Timeout of the check, in ms. */
const PATIENCE = 20_000;

/**
 * Tests the operations of an export: reads the manifest, creates a file, verifies that creating it again
 * fails, and removes it.
 * @returns a description of the target's content
 * @throws Error with the operation that failed
 */
export async function examineTarget(target: Target): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${target.name}: no answer within ${PATIENCE / 1000} s`)),
      PATIENCE,
    );
  });
  const tried = writingTo(target.local, () => examined(target));
  tried.catch(() => {}); // a rejection after the timeout is ignored
  try {
    return await Promise.race([tried, silence]);
  } finally {
    clearTimeout(timer);
  }
}

async function examined(target: Target): Promise<string> {
  const manifest = await currentManifest(target);
  const path = `doctor-${randomUUID()}.txt`;
  if (!(await target.create(path, 'chain-recorder doctor\n')))
    throw new Error(`${target.name}/${path}: is there already`);
  const again = await target.create(path, 'chain-recorder doctor\n');
  await target.remove([path]);
  if (again)
    throw new Error(
      `${target.name}: takes a file of a name that is taken (it ignores If-None-Match), so that two exports would mix: use another server`,
    );
  return manifest
    ? `can be written to; the last export is ${manifest.export}, of ${manifest.exported_at.slice(0, 19)}Z`
    : 'can be written to; nothing was exported there yet';
}
