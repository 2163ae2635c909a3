import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { ledgerStalled } from '../../src/alerts/rules/findings.ts';
import { openApp } from '../../src/app/app.ts';
import { activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { probeOnce } from '../../src/daemon/prober-role.ts';
import { DatabaseClock } from '../../src/health/database-clock.ts';
import { registerAll } from '../../src/recording/register.ts';
import { withDatabase } from '../support/fixture.ts';
import { sendJson, upstreamServer } from '../support/upstream-server.ts';

const { it, sql, database } = withDatabase();
const MINUTE = 60_000;
const HOUR = 3_600_000;

/** The time of the database, in ms since 1970. */
async function readDatabaseTime(): Promise<number> {
  const [row] = await sql<
    { at: number }[]
  >`select extract(epoch from clock_timestamp())::float8 * 1000 as at`;
  return row?.at ?? 0;
}

describe('the clock of the database', () => {
  it.each([0, HOUR, -HOUR])(
    'is followed, and never exceeded, when the steady clock moves by %s ms',
    async (by) => {
      let steady = 5_000;
      const clock = new DatabaseClock(sql, () => steady);
      expect(() => clock.now()).toThrow('not measured yet');
      await clock.measure();
      steady += by;
      const before = await readDatabaseTime();
      await clock.measure();
      expect(clock.now()).toBeGreaterThanOrEqual(Math.floor(before));
      expect(clock.now()).toBeLessThanOrEqual(await readDatabaseTime());
      const measured = clock.now();
      steady += 1_234;
      expect(clock.now(), 'between measurements the steady clock counts').toBe(measured + 1_234);
    },
  );
});

describe('a process', () => {
  it.each([10 * MINUTE, -10 * MINUTE, 3 * HOUR])(
    'whose clock differs by %d ms uses the time of the database',
    async (by) => {
      const node = await upstreamServer((_, response) => sendJson(response, { checks: {}, healthy: true }));
      const dir = mkdtempSync(join(tmpdir(), 'recorder-clock-'));
      const [file, observer] = [join(dir, 'recorder.yaml'), `clock-${by}`];
      writeFileSync(
        file,
        `network: mainnet\nobserver: ${observer}\nupstreams: { nodes: [{ name: a, url: "${node.url}" }] }\n`,
      );
      vi.stubEnv('DATABASE_URL', database.url);
      const before = await readDatabaseTime();
      const app = await openApp({ config: file, clock: () => Date.now() + by });
      const [ledger] = app.ledgers;
      if (!ledger) throw new Error('node_health is not active');
      const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      await probeOnce(app, ledger, ledger.targets, true, new AbortController().signal);
      const { runs } = JSON.parse(output.mock.calls.map(([text]) => String(text)).join(''));
      output.mockRestore();
      expect(runs).toHaveLength(3);
      for (const { rows_written } of runs) expect(rows_written).toEqual({ node_health: 1 });
      await app.close();
      const after = await readDatabaseTime();
      const moments = await sql<{ at: Date }[]>`
        select started_at as at from recorder.node_health where observer = ${observer}
        union all select heartbeat_at from recorder.health_observers where observer = ${observer}
        union all select probed_at from recorder.health_probes where observer = ${observer}`;
      expect(moments.length).toBeGreaterThan(4);
      for (const { at } of moments) {
        expect(at.getTime()).toBeGreaterThanOrEqual(Math.floor(before));
        expect(at.getTime()).toBeLessThanOrEqual(after);
      }
      vi.unstubAllEnvs();
      rmSync(dir, { recursive: true });
      await node.close();
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
      /does not update the ledger/,
    ],
    ['of no process', "now() - interval '2 minutes'", 'null', /no process probes for this observer/],
  ])('is reported as a finding and an alert at once: %s', async (name, heartbeat, lease, reason) => {
    const observer = name.replaceAll(' ', '-');
    const nodes = [{ name: observer, url: 'http://127.0.0.1:9650' }];
    const config = validateConfig(
      { network: 'mainnet', observer, upstreams: { nodes } },
      catalogNames,
      'test',
    );
    await registerAll(sql, activeLedgers(config), Date.now() - HOUR, { recorder: observer, digest: null });
    const readReports = async () => ({
      findings: [
        ...(await sql<{ reason: string }[]>`
          select reason from reporting.findings where component = 'ledger' and subject = ${observer}`),
      ],
      alerts: (await ledgerStalled.evaluate({ sql } as never)).filter(({ subject }) =>
        subject.endsWith(observer),
      ),
    });
    await sql`
      insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
      values (${observer}, 'one', now() + interval '6 s', now())`;
    expect(await readReports()).toEqual({ findings: [], alerts: [] });
    await sql.unsafe(
      `update recorder.health_observers set heartbeat_at = ${heartbeat}, lease_until = ${lease} where observer = '${observer}'`,
    );
    const { findings, alerts } = await readReports();
    expect(findings).toEqual([{ reason: expect.stringMatching(reason) }]);
    expect(alerts).toEqual([expect.objectContaining({ summary: expect.stringMatching(reason) })]);
  });
});
