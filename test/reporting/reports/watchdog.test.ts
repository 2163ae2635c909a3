import { pino } from 'pino';
import postgres from 'postgres';
import { expect } from 'vitest';
import { Watchdog } from '../../../src/reporting/reports/watchdog.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase({ max: 2 });

const minute = 60_000;
const lateFor = (interval: string) => sql`
  insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, last_success_at)
  select 'subnets', 'network=' || n, 'subnets', 86400000, true, now() - interval '1 year', now() - ${interval}::interval
  from generate_series(1, 500) n on conflict (source, target_key, dataset) do update set last_success_at = excluded.last_success_at`;

it('reports a cause at once, then at a bounded rate, and when it ends', async () => {
  const lines: string[] = [];
  const clock = new ManualClock(0);
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) });
  const watchdog = new Watchdog(sql, log, clock.read);
  const check = async (after: number) => {
    clock.now += after;
    await watchdog.checkFindings();
    return lines.splice(0).map((line) => JSON.parse(line).msg);
  };
  await sql`insert into recorder.targets (source, target_key, target)
    select 'subnets', 'network=' || n, '{}' from generate_series(1, 500) n`;
  await lateFor('1 hour');
  expect(await check(0)).toEqual([]);
  await lateFor('5 days');
  expect(await check(minute)).toEqual([
    expect.stringMatching(/^stalled since .*: the whole record: no run has committed since/),
    expect.stringMatching(/^late since .*: subnets of network=1 \(and 499 more\): no run has succeeded$/),
  ]);
  expect(await check(9 * minute)).toEqual([]);
  expect(await check(minute)).toHaveLength(2);
  await lateFor('1 hour');
  expect(await check(minute)).toEqual(['a finding was resolved', 'a finding was resolved']);
  expect(await check(minute)).toEqual([]);
  // A flapping cause is not reported each time.
  await lateFor('5 days');
  expect(await check(minute)).toEqual([]);
  await lateFor('1 hour');
  expect(await check(minute)).toEqual([]);
  await lateFor('5 days');
  expect(await check(10 * minute)).toHaveLength(2);
});

it('reports an unavailable database once, and continues', async () => {
  const lines: string[] = [];
  const clock = new ManualClock(0);
  const unavailable = postgres('postgres://nobody@127.0.0.1:1/none', {
    max: 1,
    connect_timeout: 1,
    backoff: () => 0,
  });
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) });
  const watchdog = new Watchdog(unavailable, log, clock.read);
  for (let round = 0; round < 5; round++) await watchdog.checkFindings();
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['the database did not respond']);
  clock.now += 11 * minute;
  await watchdog.checkFindings();
  expect(lines).toHaveLength(2);
  await unavailable.end();
});
