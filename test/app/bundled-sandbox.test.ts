import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { argumentsOf, childrenOf } from '../../chaos/processes.ts';
import { useSandbox } from '../../src/app/bundled-sandbox.ts';

const dir = mkdtempSync(join(tmpdir(), 'recorder-bundled-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** The sandboxes that this process started. */
async function started(): Promise<number[]> {
  const children = await childrenOf(process.pid);
  const lines = await Promise.all(children.map(argumentsOf));
  return children.filter((_, at) => lines[at]?.includes('sandbox/main.js'));
}

it.skipIf(process.platform !== 'linux')(
  'a sandbox gets no Ctrl-C that is meant for up, and one that has ended keeps nobody from stopping',
  async () => {
    const sandbox = await useSandbox(dir);
    const [pid = 0] = await started();
    // pid (name) state parent group …
    const [, , , group] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/ \(.*\)/, '')
      .split(' ');
    expect(group).toBe(String(pid));
    process.kill(pid, 'SIGKILL');
    await expect.poll(started).toEqual([]);
    await sandbox.close();
  },
);
