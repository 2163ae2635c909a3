import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openQueuePool } from '../../src/db/queue-pool.ts';

it('delays the report of a failed connection, so that immediate retries do not overload the database', async () => {
  let tried = 0;
  const refusing = createServer((socket) => {
    tried += 1;
    socket.resetAndDestroy();
  }).listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  const address = refusing.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const pool = openQueuePool(`postgres://nobody@127.0.0.1:${address.port}/none`, 'bullmq', () => {});
  const second = delay(1_000).then(() => 'a second');
  const queries = [pool.query('select 1'), pool.connect()].map((failing) =>
    failing.then(
      () => 'connected',
      () => 'failed',
    ),
  );
  expect(await Promise.race([second, ...queries])).toBe('a second');
  expect(await Promise.all(queries)).toEqual(['failed', 'failed']);
  expect(tried).toBe(2);
  await pool.end();
  refusing.close();
});
