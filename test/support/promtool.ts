import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { onPath } from './on-path.ts';

/** Path of Prometheus' promtool on PATH (Debian: the package prometheus), or undefined. */
export const promtoolPath = onPath('promtool');

/** Reason why tests with promtool are skipped, for their titles. */
export const noPromtool = promtoolPath ? '' : ' (skipped: no promtool on PATH)';
if (!promtoolPath) console.warn('Skipping what promtool checks: it is not on PATH.');

/** Runs promtool. @param input of stdin @returns its exit code, and its output */
export async function promtool(
  args: readonly string[],
  { input = '', cwd }: { readonly input?: string; readonly cwd?: string } = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  if (!promtoolPath) throw new Error('no promtool on PATH');
  const child = spawn(promtoolPath, args, { cwd });
  child.stdin.on('error', () => {}); // it may have read enough
  child.stdin.end(input);
  const [, out, err] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code: child.exitCode, output: `${out}${err}` };
}
