import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../src/alerts/deliver.ts';
import { runRound } from '../../src/alerts/round.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { scriptedRule, testAlerts } from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { onPath } from '../support/on-path.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

const PROGRAM = 'prometheus-alertmanager';
const installed = onPath(PROGRAM);
if (!installed) console.warn(`Skipping the test of Alertmanager: there is no ${PROGRAM} on PATH.`);

interface Notification {
  readonly status: string;
  readonly alerts: readonly {
    status: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
  }[];
}

describe.skipIf(!installed)('a real Alertmanager', () => {
  const folder = mkdtempSync(join(tmpdir(), 'alertmanager-'));
  const receivedEvents = new EventEmitter();
  const notifications: Notification[] = [];
  let database: TestDatabase;
  let receiver: UpstreamServer;
  let manager: ChildProcess;
  let url = '';

  beforeAll(async () => {
    database = await testDatabase();
    receiver = await upstreamServer(({ body }, response) => {
      notifications.push(JSON.parse(body));
      response.writeHead(200).end();
      receivedEvents.emit('message');
    });
    const file = join(folder, 'alertmanager.yml');
    writeFileSync(
      file,
      `route: { receiver: hook, group_by: [alertname, recorder], group_wait: 1s, group_interval: 1s, repeat_interval: 1h }
receivers: [{ name: hook, webhook_configs: [{ url: "${receiver.url}/hook", send_resolved: true }] }]\n`,
    );
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    manager = spawn(PROGRAM, [
      ...[`--config.file=${file}`, `--storage.path=${join(folder, 'data')}`, '--cluster.listen-address='],
      ...[`--web.listen-address=127.0.0.1:${port}`],
    ]);
    const ready = () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await ready()));
  });
  afterAll(async () => {
    manager.kill();
    await once(manager, 'exit');
    await receiver.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('groups the alerts of a rule, deduplicates repeated notifications, and resolves them', async () => {
    // Alertmanager ends alerts by its own clock; all rounds are complete by now.
    const clock = new ManualClock(Date.now() - 240_000);
    const rule = scriptedRule({ name: 'node-down', severity: 'critical' });
    const alerts = testAlerts(
      database.url,
      clock,
      { channels: [{ name: 'am', type: 'alertmanager', url }] },
      { rules: [rule] },
    );
    const round = async (...subjects: string[]) => {
      rule.result = subjects;
      clock.now += 20_000;
      await runRound(alerts, new AbortController().signal);
      await deliver(alerts, 'am', new AbortController().signal);
    };
    const until = async (condition: () => boolean) => {
      while (!condition()) await once(receivedEvents, 'message');
    };
    const active = async () => {
      const listed = await (await fetch(`${url}/api/v2/alerts`)).json();
      return Array.isArray(listed) ? listed.map(({ labels }) => labels.subject).sort() : listed;
    };
    await round('n1', 'n2', 'n3');
    await round('n1', 'n2', 'n3');
    await until(() => notifications.length > 0);
    const [first] = notifications;
    expect(first).toMatchObject({ status: 'firing' });
    expect(first?.alerts.map(({ labels }) => labels.subject).sort()).toEqual(['n1', 'n2', 'n3']);
    expect(first?.alerts[0]).toMatchObject({
      labels: { alertname: 'node-down', severity: 'critical', recorder: 'recorder', network: 'mainnet' },
      annotations: { description: 'A test set it.' },
    });
    expect(await active()).toEqual(['n1', 'n2', 'n3']);
    for (let at = 0; at < 3; at += 1) await round('n1');
    await until(() =>
      notifications.some(({ alerts: one }) => one.some(({ status }) => status === 'resolved')),
    );
    expect(await active()).toEqual(['n1']);
    for (let at = 0; at < 3; at += 1) await round();
    await until(() => notifications.some(({ status }) => status === 'resolved'));
    expect(await active()).toEqual([]);
    await alerts.close();
  });
});
