import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { argumentsOf, childrenOf } from '../../chaos/processes.ts';
import {
  loadConfigFor,
  recordsSandbox,
  resolveSandbox,
  sandboxConfig,
  useSandbox,
} from '../../src/app/bundled-sandbox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dir = temporaryFolder('bundled');

/** Sandboxes that this process started. */
async function startedSandboxes(): Promise<number[]> {
  const children = await childrenOf(process.pid);
  const lines = await Promise.all(children.map(argumentsOf));
  return children.filter((_, at) => lines[at]?.includes('sandbox/main.js'));
}

it.skipIf(process.platform !== 'linux')(
  'a sandbox ignores the Ctrl-C that is meant for up, and an ended one does not block the stop',
  async () => {
    const sandbox = await useSandbox(dir);
    const [pid = 0] = await startedSandboxes();
    // pid (name) state parent group …
    const [, , , group] = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/ \(.*\)/, '')
      .split(' ');
    expect(group).toBe(String(pid));
    process.kill(pid, 'SIGKILL');
    await expect.poll(startedSandboxes).toEqual([]);
    await sandbox.close();
  },
);

it('a folder that is not writable is reported with the fix, and no sandbox stays', async () => {
  const folder = join(dir, 'refused');
  mkdirSync(folder);
  // Permissions of a folder do not apply to root; a link to itself fails for every user.
  symlinkSync('sandbox.json', join(folder, 'sandbox.json'));
  await expect(useSandbox(folder)).rejects.toThrow(
    'run chain-recorder in a directory that this user may write to',
  );
  await expect.poll(startedSandboxes).toEqual([]);
});

it('is the upstream of a file that names the network sandbox and no upstream', async () => {
  const file = join(dir, 'recorder.yaml');
  const load = (text: string) => {
    writeFileSync(file, `network: ${text}\n`);
    return loadConfigFor(file, announcement);
  };
  const { sandbox } = await resolveSandbox(null, dir);
  if (!sandbox) throw new Error('no sandbox');
  const { announcement } = sandbox;
  const { upstreams, watch } = sandboxConfig(announcement);
  expect(load('sandbox\nname: mine')).toMatchObject({ name: 'mine', upstreams, watch });
  const one = load('sandbox\nwatch: { chains: ["43114"] }');
  expect(one.upstreams).toEqual(upstreams);
  expect(one.watch).toMatchObject({ chains: ['43114'], nodeIds: [], addresses: [] });
  expect(recordsSandbox(one, announcement)).toBe(true);
  expect(() => loadConfigFor(file, null)).toThrow(/upstreams: is empty, .*: restart this process$/);
  for (const other of ['sandbox\nupstreams: { metrics: { url: "http://127.0.0.1:1" } }', 'mainnet']) {
    const config = load(other);
    expect(await resolveSandbox(config, dir)).toEqual({ config, sandbox: null });
    expect(recordsSandbox(config, announcement)).toBe(false);
  }
  await sandbox.close();
});
