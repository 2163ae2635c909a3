import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { useSandbox } from '../../src/app/bundled-sandbox.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { startDatabase } from '../database.ts';
import { median } from '../median.ts';
import { processorTime } from '../pages/processor.ts';

/**
 * Measures the duration of `--help` and `up`, the latter until `/ready` on a migrated database and a running bundled
 * network. `--against FOLDER` measures the build of another checkout alternately, whose database needs the same
 * migration.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    against: { type: 'string', multiple: true, default: [] },
  },
});
const ownFolder = resolve(import.meta.dirname, '../..');
const checkouts = [ownFolder, ...values.against.map((folder) => resolve(folder))];
const timesByCheckout = new Map(
  checkouts.map((folder) => [
    folder,
    { help: [] as number[], ready: [] as number[], processor: [] as number[] },
  ]),
);

const database = await startDatabase();
const directory = await mkdtemp(join(tmpdir(), 'chain-recorder-start-'));
const sandbox = await useSandbox(join(directory, '.recorder'));
try {
  // The first round warms up.
  for (let round = 0; round <= Number(values.rounds); round++)
    for (const [folder, times] of timesByCheckout) {
      const cli = join(folder, 'dist/cli.js');
      const help = await timeOfHelp(cli);
      const ready = await timeUntilReady(cli);
      if (round === 0) continue;
      times.help.push(help);
      times.ready.push(ready.elapsed);
      times.processor.push(ready.processor);
    }
  for (const [folder, { help, ready, processor }] of timesByCheckout)
    console.log(
      `${folder}: --help ${formatTimes(help)} (limit 120); ready ${formatTimes(ready)} (limit 1000), ${formatTimes(processor)} of the processor; load ${loadavg()[0]?.toFixed(1)}`,
    );
  const { help, ready } = timesByCheckout.get(ownFolder) ?? { help: [], ready: [] };
  process.exitCode = median(help) <= 120 && median(ready) <= 1000 ? 0 : 1;
} finally {
  await sandbox.close();
  await rm(directory, { recursive: true, force: true });
  await database.close();
}

function formatTimes(times: readonly number[]): string {
  return `${median(times).toFixed(0)} ms (${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)})`;
}

async function timeOfHelp(cli: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [cli, '--help'], { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - startedAt;
}

/** Processor time of the process alone, ms. @throws Error if it ends before it is ready */
async function timeUntilReady(cli: string): Promise<{ elapsed: number; processor: number }> {
  const port = String(await findFreePort());
  const startedAt = performance.now();
  const child = spawn(process.execPath, [cli, 'up'], {
    cwd: directory,
    stdio: 'ignore',
    env: { ...process.env, DATABASE_URL: database.url, RECORDER_PORT: port },
  });
  const exited = once(child, 'exit');
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`up ended with ${child.exitCode}`);
      const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
      if (answer?.ok) break;
      await wait(5);
    }
    const elapsed = performance.now() - startedAt;
    return { elapsed, processor: (await processorTime(child.pid ?? 0)) / 1e6 };
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}
