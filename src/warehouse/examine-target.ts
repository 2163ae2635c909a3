import { randomUUID } from 'node:crypto';
import { explainWriteErrors } from '../lib/write-errors.ts';
import { currentManifest } from './manifest.ts';
import type { ExportTarget } from './target.ts';

/** Timeout of the check, in ms. */
const CHECK_TIMEOUT_MS = 20_000;

/**
 * Tests the operations of an export: reads the manifest, creates a file, verifies that creating it again
 * fails, and removes it.
 * @returns a description of the target's content
 * @throws Error with the operation that failed
 */
export async function checkTarget(target: ExportTarget): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${target.name}: no response within ${CHECK_TIMEOUT_MS / 1000} s`)),
      CHECK_TIMEOUT_MS,
    );
  });
  const tried = explainWriteErrors(target.local, () => testTarget(target));
  tried.catch(() => {}); // a rejection after the timeout is ignored
  try {
    return await Promise.race([tried, silence]);
  } finally {
    clearTimeout(timer);
  }
}

async function testTarget(target: ExportTarget): Promise<string> {
  const manifest = await currentManifest(target);
  const path = `doctor-${randomUUID()}.txt`;
  if (!(await target.create(path, 'chain-recorder doctor\n')))
    throw new Error(`${target.name}/${path}: already exists`);
  const again = await target.create(path, 'chain-recorder doctor\n');
  await target.remove([path]);
  if (again)
    throw new Error(
      `${target.name}: overwrites an existing file (the server ignores If-None-Match), so two exports could mix: use another server`,
    );
  return manifest
    ? `can be written to; the last export is ${manifest.export}, of ${manifest.exported_at.slice(0, 19)}Z`
    : 'can be written to; nothing was exported there yet';
}
