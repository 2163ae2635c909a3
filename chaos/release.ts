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
  /** Which one it is, for the report. */
  readonly name: string;
}

/** What writes this file is a release: `npm version`. */
const WRITTEN_BY_RELEASES = 'drizzle/reporting.json';

/**
 * Installs the last release: that of the newest tag, or of the commit that last wrote what `reporting` has in a release.
 * @param dir an empty folder @param installed one in which an earlier version was installed before; null: it is done now
 * @param closers end the installation where the run is stopped
 */
export async function lastRelease(dir: string, installed: string | null, closers: Closers): Promise<Release> {
  if (installed !== null) return { cli: resolve(installed, 'dist/cli.js'), name: installed };
  const git = async (...args: string[]) => (await run('git', args, { cwd: ROOT })).stdout.trim();
  const tag = await git('describe', '--tags', '--abbrev=0', 'HEAD^').catch(() => null);
  const commit = tag ?? (await git('log', '-1', '--format=%H', '--', WRITTEN_BY_RELEASES));
  const archive = join(dir, 'release.tar');
  await git('archive', '--output', archive, commit);
  await run('tar', ['-xf', archive, '-C', dir]);
  const installing = run('npm', ['ci'], { cwd: dir, maxBuffer: 64 * 1024 * 1024 });
  closers.add(() => installing.child.kill());
  await installing;
  return { cli: join(dir, 'dist', 'cli.js'), name: tag ?? commit.slice(0, 7) };
}
