import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCommand } from '../support/cli.ts';
import { runCommand } from '../support/command-line.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { upstreamServer } from '../support/upstream-server.ts';

const dir = temporaryFolder('nothing');
const messages: string[] = [];
let hook: Awaited<ReturnType<typeof upstreamServer>>;
beforeAll(async () => {
  hook = await upstreamServer(({ body }, response) => {
    if (body) messages.push(body);
    response.end();
  });
  writeFileSync(
    join(dir, 'recorder.yaml'),
    `network: fuji
upstreams: { metrics: { url: "${hook.url}" } }
watch: { chains: ["43113"] }
alerts:
  channels:
    - { name: ops, type: webhook, url: "${hook.url}" }
    - { name: chat, type: slack, url: "\${CHAT_URL}" }
`,
  );
});
afterAll(async () => {
  await hook.close();
});

const run = (...args: string[]) => runCommand(args, {}, dir);
/** Runs a command in its own process, for the log in its stderr. */
const start = (...args: string[]) => startCommand(args, { LOG_LEVEL: undefined }, dir).ended;
const createdFiles = () => readdirSync(dir).filter((name) => name !== 'recorder.yaml');

it('plan, status, coverage and doctor write nothing into a directory without a record', {
  timeout: 120_000,
}, async () => {
  const plan = await run('plan', '--json');
  expect(JSON.parse(plan.stdout).schedules.length, plan.stderr).toBeGreaterThan(0);
  expect(createdFiles()).toEqual([]);
  const doctor = await run('doctor');
  expect(doctor.stdout).toMatch(/^ok +database .*no record yet: "chain-recorder up" creates one/m);
  expect(doctor.stdout).toMatch(/^-- +recording +nothing has been recorded yet/m);
  expect(createdFiles()).toEqual([]);
  for (const command of ['status', 'coverage']) {
    expect((await start(command)).stderr).toBe('');
    expect(createdFiles(), command).toEqual([]);
  }
});

it('a test message is sent although another channel lacks its secret, and no record is created', {
  timeout: 120_000,
}, async () => {
  expect(await start('alerts', 'test', 'ops')).toMatchObject({ code: 0, stderr: '' });
  expect(messages).toHaveLength(1);
  const chat = await run('alerts', 'test', 'chat');
  expect(chat).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('alerts.channels[0].url: CHAT_URL'),
  });
  expect((await run('alerts', 'list')).code).toBe(0);
  expect(createdFiles()).toEqual([]);
});
