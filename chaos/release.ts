import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Closers } from './closers.ts';

const ROOT = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

/** An earlier version, installed. */
export interface Release {
  /** Its command line's file. */
  readonly cli: string;
  /** Its version, for the report. */
  readonly name: string;
}

const git = async (...args: string[]) => (await run('git', args, { cwd: ROOT })).stdout.trim();

/** Returns the newest tag before HEAD, or null if nothing has been released. */
export const newestTag = (): Promise<string | null> =>
  git('describe', '--tags', '--abbrev=0', 'HEAD^').catch(() => null);

/**
 * Installs the last release: that of the newest tag.
 * @param dir an empty folder @param installed folder of an earlier version that is installed already; null: it is
 * installed now
 * @param closers end the installation if the run is stopped
 */
export async function lastRelease(dir: string, installed: string | null, closers: Closers): Promise<Release> {
  if (installed !== null) return { cli: resolve(installed, 'dist/cli.js'), name: installed };
  const tag = await newestTag();
  if (tag === null) throw new Error('nothing has been released: name an installed version by --release DIR');
  const archive = join(dir, 'release.tar');
  await git('archive', '--output', archive, tag);
  await run('tar', ['-xf', archive, '-C', dir]);
  const installing = run('npm', ['ci'], { cwd: dir, maxBuffer: 64 * 1024 * 1024 });
  closers.add(() => installing.child.kill());
  await installing;
  return { cli: join(dir, 'dist', 'cli.js'), name: tag };
}
