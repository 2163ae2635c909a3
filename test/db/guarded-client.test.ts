import { readFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { onOwnConnection } from '../../src/db/own-connection.ts';
import { openQueuePool } from '../../src/db/queue-pool.ts';
import { sessionSettings } from '../../src/db/session.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database } = withDatabase();

/**
 * Returns the time until the system next probes the other side of a connection to a port, in s; null: it does not
 * probe.
 */
async function nextProbeIn(port: number): Promise<number | null> {
  const connections = await readFile('/proc/net/tcp', 'utf8');
  const other = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  for (const line of connections.split('\n')) {
    const [, , remote = '', , , timer = ''] = line.trim().split(/\s+/);
    const [kind, hundredths = ''] = timer.split(':');
    if (remote.endsWith(other) && kind === '02') return Number.parseInt(hundredths, 16) / 100;
  }
  return null;
}

const connections: readonly (readonly [
  string,
  (url: string, check: () => Promise<void>) => Promise<void>,
])[] = [
  [
    'a connection for one piece of work',
    (url, check) =>
      onOwnConnection(url, sessionSettings('export'), new AbortController().signal, async (client) => {
        await client.query('select 1');
        await check();
      }),
  ],
  [
    "a connection of the queue's pool",
    async (url, check) => {
      const pool = openQueuePool(url, 'bullmq', () => {});
      await pool.query('select 1');
      await check();
      await pool.end();
    },
  ],
];

const noTimers =
  process.platform === 'linux' ? '' : ' (skipped: only Linux shows the timers of its connections)';
describe.skipIf(noTimers)(`a vanished server is detected${noTimers}`, () => {
  it.each(connections)('by %s after seconds, though nothing is sent', async (_, connectAnd) => {
    const proxy = await TcpProxy.open(Number(new URL(database.url).port));
    await connectAnd(proxy.before(database.url), async () => {
      const seconds = await nextProbeIn(proxy.port);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(10);
    });
    await proxy.close();
  });
});
