import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { onPath } from '../support/on-path.ts';

/** Name of a built image, such as `chain-recorder` after `docker compose build recorder`. */
const IMAGE = process.env.TEST_IMAGE;
const reason = IMAGE === undefined ? 'TEST_IMAGE names no image' : 'no docker on PATH';
const skipped = IMAGE === undefined || !onPath('docker');
if (skipped) console.warn(`Skipping the tests of the image: ${reason}.`);

const TOKEN = 'image-test-token';
const TEN_MINUTES = 600_000;
const prefix = `recorder-test-${randomUUID().slice(0, 8)}`;
const volumes = { first: `${prefix}-first`, restored: `${prefix}-restored` };
const names = new Set<string>();

interface Ended {
  readonly code: number;
  readonly output: string;
}
const docker = (...args: readonly string[]) =>
  new Promise<Ended>((resolve) =>
    execFile('docker', [...args], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    ),
  );

/** Options of a container that can write to its volume and /tmp only. */
const hardened = [
  ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges:true'],
  ...['--env', 'RECORDER_HOST=0.0.0.0', '--env', `RECORDER_TOKEN=${TOKEN}`],
];
const volume = (name: string) => ['--volume', `${name}:/app/.recorder`];

/** Starts the recorder in a container, with a port of this machine that Docker chooses. */
async function start(name: string, options: readonly string[], port = 8080): Promise<string> {
  const full = `${prefix}-${name}`;
  names.add(full);
  const published = ['--publish', `127.0.0.1::${port}`];
  const { code, output } = await docker(
    ...['run', '--detach', '--name', full, ...hardened, ...published, ...options, IMAGE ?? ''],
  );
  expect(code, output).toBe(0);
  return full;
}

/** Returns the status and the body of a page, once the container serves it without a server error. */
async function page(name: string, path: string, port = 8080): Promise<{ status: number; body: string }> {
  for (;;) {
    const { output: address } = await docker('port', name, `${port}/tcp`);
    const answer = await fetch(`http://${address.trim()}${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    }).catch(() => null);
    if (answer && answer.status < 500) return { status: answer.status, body: await answer.text() };
    await answer?.body?.cancel();
    const { output: state } = await docker('inspect', '--format', '{{.State.Running}}', name);
    if (state.trim() !== 'true') throw new Error((await docker('logs', '--tail', '20', name)).output);
    await delay(500);
  }
}

/** Returns the number of validators that a container's record has, once it has some. */
async function validators(name: string): Promise<number> {
  for (;;) {
    const { output } = await docker(
      ...['exec', name, 'chain-recorder', 'query', '--format', 'csv', 'select count(*) from validators'],
    );
    const count = Number(/^(\d+)$/m.exec(output)?.[1] ?? 0);
    if (count > 0) return count;
    await delay(500);
  }
}

const oneOff = (name: string, ...command: readonly string[]) =>
  docker('run', '--rm', ...hardened, ...volume(name), ...command);

afterAll(async () => {
  if (skipped) return;
  for (const name of names) await docker('rm', '--force', '--volumes', name);
  await docker('volume', 'rm', '--force', ...Object.values(volumes));
});

describe.skipIf(skipped)(`the image${skipped ? ` (skipped: ${reason})` : ''}`, () => {
  let first = '';
  let count = 0;

  it('records with a read-only root, and serves pages', { timeout: TEN_MINUTES }, async () => {
    first = await start('first', volume(volumes.first));
    expect(await page(first, '/')).toMatchObject({ status: 200 });
    count = await validators(first);
    expect(await page(first, '/datasets/validators')).toMatchObject({
      status: 200,
      body: expect.stringContaining('NodeID-'),
    });
  });

  it('joins the first container on the volume with a second one', { timeout: TEN_MINUTES }, async () => {
    const second = await start('second', volume(volumes.first));
    expect(await page(second, '/')).toMatchObject({ status: 200 });
    expect(await validators(second)).toBe(count);
    await docker('stop', '--time', '25', second);
    expect(await page(first, '/datasets/validators')).toMatchObject({ status: 200 });
  });

  it('continues after a restart', { timeout: TEN_MINUTES }, async () => {
    await docker('restart', '--time', '25', first);
    expect(await page(first, '/')).toMatchObject({ status: 200 });
    expect(await validators(first)).toBe(count);
  });

  it('restores a backup into another volume, on another port', { timeout: TEN_MINUTES }, async () => {
    const made = await docker('exec', first, 'chain-recorder', 'backup', '--to', '/app/.recorder/backup');
    expect(made.code, made.output).toBe(0);
    const old = ['--volume', `${volumes.first}:/old:ro`, IMAGE ?? ''];
    const loaded = await oneOff(
      volumes.restored,
      ...old,
      'chain-recorder',
      'restore',
      '--from',
      '/old/backup',
    );
    expect(loaded.code, loaded.output).toBe(0);
    const options = [...volume(volumes.restored), '--env', 'RECORDER_PORT=9999', '--health-interval', '2s'];
    const restored = await start('restored', options, 9999);
    expect(await page(restored, '/', 9999)).toMatchObject({ status: 200 });
    expect(await validators(restored)).toBe(count);
    await expect
      .poll(async () => (await docker('inspect', '--format', '{{.State.Health.Status}}', restored)).output, {
        timeout: TEN_MINUTES / 2,
      })
      .toBe('healthy\n');
  });

  it('refuses a user id that may not write to the volume, with the fix', {
    timeout: TEN_MINUTES,
  }, async () => {
    const options = ['--user', '12345:0', ...volume(volumes.restored), IMAGE ?? ''];
    const { code, output } = await docker('run', '--rm', ...hardened, ...options);
    expect(code, output).not.toBe(0);
    expect(output).toContain('--user node');
  });
});
