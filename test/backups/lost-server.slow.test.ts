import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../sandbox/clock.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { backUp } from '../../src/backups/backup.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import type { Config } from '../../src/config/schema.ts';
import { catalogNames } from '../../src/configured-feeds.ts';
import { planDue } from '../../src/recording/plan.ts';
import { sealUntil } from '../../src/seals/seal.ts';
import { configFor, Recorder } from '../every-operation/support.ts';
import { World } from '../health/world.ts';
import { NOW, stillSandbox } from '../sandbox/client.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { cloneTemplate, dropDatabase } from '../support/template.ts';
import { type InstalledServer, installedServer } from './installed-server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** A dataset of each kind of history; the ledger is written by a watch of its own, which looks every minute. */
const DATASETS = {
  proposed_blocks: { every: '10m', since: new Date(NOW).toISOString().slice(0, 10) },
  metric_points: { every: '10m', metrics: ['txCount'], intervals: ['hour'] },
  validators: { every: '10m' },
  validator_uptime: { every: '10m' },
  node_health: { enabled: false },
};
/** What upstreams tell of the past again. */
const TOLD_AGAIN = ['proposed_blocks', 'metric_points', 'validators'];

const lost: InstalledServer | null = await installedServer();
if (!lost)
  console.warn(
    'Skipping the test of a lost server: no pg_dump is here, or none of a server that can be started.',
  );
const folder = mkdtempSync(join(tmpdir(), 'lost-'));
const signal = new AbortController().signal;

let sandbox: Sandbox;
let clock: ManualClock;
let config: Config;
let source: string;
let other: TestDatabase;
const opened: postgres.Sql[] = [];

/** A recorder in this process, and its watch over a node, which is well. */
class Recording {
  readonly sql: postgres.Sql;
  readonly #recorder: Recorder;
  readonly #watch: World;

  constructor(url: string) {
    this.sql = postgres(url, { max: 4, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
    opened.push(this.sql);
    this.#recorder = new Recorder(this.sql, config, clock);
    this.#watch = new World(this.sql, 'here', [{ node: 'validator-1', probe: 'health' }], clock.now());
  }

  /** Records what is due, and watches up to now. */
  async round(): Promise<void> {
    if (this.#watch.prober) await this.#watch.pass(clock.now() - this.#watch.now);
    else await this.#watch.start();
    await this.#recorder.round(planDue);
  }
}

/** Time passes, and everyone records what is due every five minutes. */
async function pass(recordings: readonly Recording[], minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 5) {
    for (const recording of recordings) await recording.round();
    clock.advance(5 * MINUTE);
  }
}

beforeAll(async () => {
  if (!lost) return;
  ({ sandbox, clock } = await stillSandbox({ genesisMs: NOW - 60 * DAY, blocksPerHour: 20, validators: 14 }));
  const names = Object.keys(DATASETS);
  const others = catalogNames.datasets.filter((name) => !names.includes(name));
  config = configFor(sandbox, [{ name: 'validator-1', path: '/nodes/validator-1' }], {
    watch: {
      chains: ['43114'],
      nodeIds: sandbox.network.validators.nodes.slice(0, 2).map(({ nodeId }) => nodeId),
    },
    datasets: { ...Object.fromEntries(others.map((name) => [name, { enabled: false }])), ...DATASETS },
  });
  source = await cloneTemplate(lost.url, 'lost_source');
  other = await emptyDatabase();
});
afterAll(async () => {
  for (const sql of opened) await sql.end({ timeout: 1 });
  if (lost && source) await dropDatabase(lost.url, 'lost_source');
  await other?.close();
  await sandbox?.close();
  await lost?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What is told of a dataset now, without when and by which run it was recorded. */
async function told(sql: postgres.Sql, dataset: string): Promise<string[]> {
  const own = ['recorded_at', 'run_id', 'valid_from', 'series_id', 'vanished_at'];
  const rows = await sql<{ line: string }[]>`
    select (to_jsonb(d) - ${own}::text[])::text as line from ${sql(`reporting.${dataset}`)} d order by 1`;
  return rows.map(({ line }) => line);
}

const coverageOf = (sql: postgres.Sql) =>
  sql<{ dataset: string; target_key: string; covered: string }[]>`
    select dataset, target_key, covered::text from recorder.coverage order by 1, 2`;

describe.skipIf(!lost)(
  'a server that is lost an hour after its backup, which was made while it recorded',
  () => {
    it('is followed by another one: what upstreams tell again is healed, and the rest is told as not observed', async () => {
      const recorder = new Recording(source);
      const before = recorder.sql;
      await pass([recorder], 60);
      await sealUntil({ databaseUrl: source, clock: clock.now, key: undefined, signal }, clock.now());

      const least = await coverageOf(before);
      const backup = { to: join(folder, 'backup'), going: true, rounds: 0 };
      const making = backUp({ databaseUrl: source, to: backup.to, signal }).finally(() => {
        backup.going = false;
      });
      while (backup.going) {
        await pass([recorder], 10);
        backup.rounds += 1;
      }
      const manifest = await making;
      const most = await coverageOf(before);
      expect(backup.rounds).toBeGreaterThan(0);
      const from = clock.now();
      await pass([recorder], 60);

      const restored = await restoreBackup({ databaseUrl: other.url, from: backup.to, manifest, signal });
      expect(restored?.verified).toMatchObject({
        broken: [],
        differences: [],
        more: 0,
        head: manifest.contents.seal?.head,
      });
      const heir = new Recording(other.url);
      const after = heir.sql;
      const [coverage] = await after<{ ranges: number; missing: number; beyond: number }[]>`
      with least as (select * from jsonb_to_recordset(${after.json(least)}) as l(dataset text, target_key text, covered int8multirange)),
        most as (select * from jsonb_to_recordset(${after.json(most)}) as m(dataset text, target_key text, covered int8multirange))
      select (select count(*)::int from recorder.coverage) as ranges,
        (select count(*)::int from least l left join recorder.coverage c using (dataset, target_key)
          where (l.covered <@ c.covered) is not true) as missing,
        (select count(*)::int from recorder.coverage c left join most m using (dataset, target_key)
          where (c.covered <@ m.covered) is not true) as beyond`;
      expect(coverage).toEqual({
        ranges: manifest.contents.tables['recorder.coverage'],
        missing: 0,
        beyond: 0,
      });

      // The server of before goes on, to show what would have been recorded had it not been lost.
      const to = clock.now();
      await pass([recorder, heir], 60);
      for (const dataset of TOLD_AGAIN) {
        const had = await told(before, dataset);
        expect(had.length, dataset).toBeGreaterThan(3);
        expect(await told(after, dataset), dataset).toEqual(had);
      }

      const between = [new Date(from + 10 * MINUTE), new Date(to)] as const;
      const looks = (sql: postgres.Sql) => sql`
      select from reporting.validator_uptime where observed_at > ${between[0]} and observed_at < ${between[1]}`;
      expect((await looks(before)).length).toBeGreaterThan(0);
      expect(await looks(after)).toHaveLength(0);
      const gaps = await after<{ seconds: number; reason: string }[]>`
        select seconds::float8 as seconds, reason from reporting.recording_gaps(${between[0]}, ${between[1]}, 'validator_uptime')`;
      const seconds = (between[1].getTime() - between[0].getTime()) / 1000;
      expect(gaps).toEqual([{ seconds, reason: 'not observed: the recorder did not run' }]);
      const [absence] = await after`
        select reason from reporting.node_absences where started_at <= ${between[0]} and ended_at = ${between[1]}`;
      expect(absence).toEqual({ reason: 'the recorder was off' });
      const uptime = (sql: postgres.Sql) => sql`
        select up_seconds::float8 as up, unknown_seconds::float8 as unknown, down_seconds::float8 as down
        from reporting.node_uptime(${between[0]}, ${between[1]})`;
      expect(await uptime(before)).toEqual([{ up: seconds, unknown: 0, down: 0 }]);
      expect(await uptime(after)).toEqual([{ up: 0, unknown: seconds, down: 0 }]);
    });
  },
);
