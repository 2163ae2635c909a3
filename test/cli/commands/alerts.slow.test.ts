import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { startCommand } from '../../support/cli.ts';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type UpstreamServer, upstreamServer } from '../../support/upstream-server.ts';

const KEY = 'correct-horse-battery';
const webhookBody = z.looseObject({ rule: z.string(), kind: z.string() });

const { it, database, sql } = withDatabase({ max: 2 });
let hook: UpstreamServer;
const dir = temporaryFolder('alerts');
let refusing = false;

beforeAll(async () => {
  hook = await upstreamServer((_, response) => response.writeHead(refusing ? 503 : 200).end());
  await writeFile(
    join(dir, 'recorder.yaml'),
    `network: mainnet
upstreams: {}
alerts:
  channels:
    - { name: ops, type: webhook, url: "${hook.url}/\${HOOK_KEY}" }
  rules:
    - { name: held-back, sql: "select reason as subject, 'was held back' as summary from quarantine", every: 5s }
    - { name: node-down, enabled: false }
`,
  );
});
afterAll(async () => {
  await hook.close();
});

const environment = { DATABASE_URL: database.url, HOOK_KEY: KEY };
const run = async (...args: string[]) => {
  const { code, stdout, stderr } = await runCommand(args, environment, dir);
  expect(stdout + stderr).not.toContain(KEY);
  return { code, stdout, stderr };
};
/** The messages that the channel received of the rule of this file, in order. */
const ofRule = () =>
  hook.received.flatMap(({ body }) => {
    const message = webhookBody.parse(JSON.parse(body));
    return message.rule === 'held-back' ? [message.kind] : [];
  });

describe('alerts', () => {
  it('lists none if nothing fires', async () => {
    expect(await run('alerts')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('no open alerts'),
    });
    expect(await run('alerts', 'list', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
    for (const rule of ['node-down', 'node-flapping', 'held-back'])
      expect(await run('alerts', 'list', '--rule', rule, '--json'), rule).toEqual({
        ...{ code: 0, stdout: '[]\n', stderr: '' },
      });
    expect(await run('alerts', 'replay', '--from', '2026-01-01', '--rule', 'node-down')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--rule node-down: no enabled rule has this name'),
    });
  });

  it('tests a channel with a message, and explains an unknown name or an unavailable channel', async () => {
    expect(await run('alerts', 'test', 'ops')).toMatchObject({ code: 0 });
    expect(hook.received.at(-1)?.url.pathname).toBe(`/${KEY}`);
    expect(await run('alerts', 'test', 'opps')).toMatchObject({
      code: 2,
      stderr: 'alerts test opps: there is no such channel; configured: ops\n',
    });
    refusing = true;
    // A process of its own, so that stderr includes its log.
    const refused = await startCommand(['alerts', 'test', 'ops'], environment, dir).ended;
    refusing = false;
    expect(refused).toMatchObject({
      code: 75,
      stdout: '',
      stderr: expect.stringMatching(/^ops did not accept the test message: .*503.*\n$/),
    });
    expect(refused.stderr).not.toContain(KEY);
  });

  it('sends each state once to a channel from the queue of up, and lists and acknowledges alerts', async () => {
    const up = startCommand(['up', '--roles', 'scheduler,worker'], environment, dir);
    await sql`
      insert into recorder.quarantine (dataset, target_key, digest, run_id, quarantined_at, last_seen, times, observed_at, reason, item)
      values ('subnets', 'network=mainnet', 'd', 1, now(), now(), 1, now(), 'a planted reason', '{}')`;
    await expect.poll(ofRule, { timeout: 50_000 }).toEqual(['firing']);
    const { stdout } = await run('alerts', '--json');
    const [alert] = z
      .array(z.looseObject({ id: z.string(), rule: z.string(), subject: z.string() }))
      .parse(JSON.parse(stdout))
      .filter(({ rule }) => rule === 'held-back');
    expect(alert).toMatchObject({ subject: 'a planted reason' });
    expect(await run('alerts', 'ack', alert?.id ?? '', '--by', 'ann')).toMatchObject({ code: 0 });
    expect(await run('alerts', 'ack', alert?.id ?? '')).toMatchObject({ code: 2 });
    await sql`delete from recorder.quarantine`;
    await expect.poll(ofRule, { timeout: 90_000 }).toEqual(['firing', 'resolved']);
    up.process.kill('SIGTERM');
    const { code, stdout: output, stderr } = await up.ended;
    expect(code, stderr).toBe(0);
    expect(output + stderr).not.toContain(KEY);
  });
});
