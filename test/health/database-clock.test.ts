import { describe, expect } from 'vitest';
import { ledgerStalled } from '../../src/alerts/rules/findings.ts';
import { activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { checkConfig } from '../../src/config/load.ts';
import { DatabaseClock } from '../../src/health/database-clock.ts';
import { registerAll } from '../../src/recording/register.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, sql } = withDatabase();
const HOUR = 3_600_000;

/** The time of the database, in ms since 1970. */
async function databaseNow(): Promise<number> {
  const [row] = await sql<
    { at: number }[]
  >`select extract(epoch from clock_timestamp())::float8 * 1000 as at`;
  return row?.at ?? 0;
}

describe('the clock of the database', () => {
  it.each([0, HOUR, -HOUR])(
    'is kept, and never exceeded, when the steady clock moves by %s ms',
    async (by) => {
      let steady = 5_000;
      const clock = new DatabaseClock(sql, () => steady);
      expect(() => clock.now()).toThrow('not measured yet');
      await clock.measure();
      steady += by;
      const before = await databaseNow();
      await clock.measure();
      expect(clock.now()).toBeGreaterThanOrEqual(Math.floor(before));
      expect(clock.now()).toBeLessThanOrEqual(await databaseNow());
      const measured = clock.now();
      steady += 1_234;
      expect(clock.now(), 'between measurements the steady clock counts').toBe(measured + 1_234);
    },
  );
});

describe('a ledger that is stalled', () => {
  it.each([
    [
      'ahead of the database',
      "now() + interval '5 minutes'",
      "now() + interval '6 s'",
      /ahead of the clock of the database/,
    ],
    [
      'held by a process that settles nothing',
      "now() - interval '1 minute'",
      "now() + interval '6 s'",
      /settles nothing/,
    ],
    ['of no process', "now() - interval '2 minutes'", 'null', /no process watches/],
  ])('%s is a finding and an alert at once', async (name, heartbeat, lease, reason) => {
    const observer = name.replaceAll(' ', '-');
    const nodes = [{ name: observer, url: 'http://127.0.0.1:9650' }];
    const config = checkConfig({ network: 'mainnet', observer, upstreams: { nodes } }, catalogNames, 'test');
    await registerAll(sql, activeLedgers(config), Date.now() - HOUR, { recorder: observer, digest: null });
    const stalled = async () => ({
      findings: [
        ...(await sql<{ reason: string }[]>`
          select reason from reporting.findings where what = 'ledger' and subject = ${observer}`),
      ],
      alerts: (await ledgerStalled.ask({ sql } as never)).filter(({ subject }) => subject.endsWith(observer)),
    });
    await sql`
      insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
      values (${observer}, 'one', now() + interval '6 s', now())`;
    expect(await stalled()).toEqual({ findings: [], alerts: [] });
    await sql.unsafe(
      `update recorder.health_observers set heartbeat_at = ${heartbeat}, lease_until = ${lease} where observer = '${observer}'`,
    );
    const { findings, alerts } = await stalled();
    expect(findings).toEqual([{ reason: expect.stringMatching(reason) }]);
    expect(alerts).toEqual([expect.objectContaining({ summary: expect.stringMatching(reason) })]);
  });
});
