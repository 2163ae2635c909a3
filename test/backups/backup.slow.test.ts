import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUp } from '../../src/backups/backup.ts';
import { checkDump, readManifest } from '../../src/backups/manifest.ts';
import { installedPrograms } from '../../src/backups/programs.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import { isAway } from '../../src/db/away.ts';
import { schemaProblem } from '../../src/db/migrate.ts';
import { readMark, setMark } from '../../src/db/restoring.ts';
import { sealUntil } from '../../src/seals/seal.ts';
import { migrate } from '../../src/views/migrate.ts';
import { World } from '../seals/world.ts';
import { startCommand } from '../support/cli.ts';
import { cutAfter } from '../support/cut-connection.ts';
import { cloneTemplate, createDatabase, dropDatabase } from '../support/template.ts';
import { type InstalledServer, installedServer } from './installed-server.ts';

const server: InstalledServer | null = await installedServer();
if (!server)
  console.warn('Skipping the tests of backups: no pg_dump is here, or none of a server that can be started.');
const admin = server?.url ?? '';
const folder = mkdtempSync(join(tmpdir(), 'backup-'));
const whole = join(folder, 'whole');
const signal = new AbortController().signal;
const HOUR = 3_600_000;
const start = Date.UTC(2026, 0, 1);
/** How often each is killed. By hand: TEST_KILLS=20. */
const KILLS = Number(process.env.TEST_KILLS ?? 2);
const names: string[] = [];

async function blank(name: string): Promise<string> {
  names.push(name);
  return createDatabase(admin, name);
}

async function reading<T>(url: string, read: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
  return read(sql).finally(() => sql.end({ timeout: 1 }));
}

afterAll(async () => {
  for (const name of names) await dropDatabase(admin, name);
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!server)('a backup', () => {
  let source: string;
  let target: string;

  beforeAll(async () => {
    names.push('backup_source');
    source = await cloneTemplate(admin, 'backup_source');
    await reading(source, async (sql) => {
      const world = new World(sql);
      for (let day = 0; day < 4; day++) {
        const run = await world.begin(new Date(start + day * 24 * HOUR));
        await world.point(run, 'txCount', day, run.at);
        await world.member(run, 'AVAX', day, run.at);
        await world.look(run, ['C', 'P'], day, run.at);
        for (let height = 0; height < 300; height++) await world.block(run, day * 300 + height, run.at);
        await world.end(run, run.at);
      }
      await sql`insert into recorder.coverage values ('p_blocks', 'node=n', 'height', '{[0,1200)}')`;
      await sql`insert into recorder.gaps values ('validators', 'node=n', 'time', '[1,2)', 'nobody looked', now())`;
      // What people build: a view of their own, and a role that may read it.
      await sql.unsafe(`create schema mine; create view mine.blocks as select height from reporting.p_blocks;
        create materialized view mine.heights as select max(height) as height from mine.blocks;
        grant usage on schema mine to recorder_reader; grant select on mine.blocks to recorder_reader`);
    });
    await sealUntil(
      { databaseUrl: source, clock: () => start + 97 * HOUR, key: undefined, signal },
      start + 96 * HOUR,
    );
  });

  it('of a record that is written to is one moment of it, and is restored as that, with the rights that were given', async () => {
    const seen = join(folder, 'bin', 'seen');
    const [real] = await installedPrograms('pg_dump');
    mkdirSync(join(folder, 'bin'));
    writeFileSync(
      join(folder, 'bin', 'pg_dump'),
      `#!/bin/sh\necho "$@" >> ${seen}\nexec ${real?.path} "$@"\n`,
    );
    chmodSync(join(folder, 'bin', 'pg_dump'), 0o755);
    const path = process.env.PATH;
    process.env.PATH = `${join(folder, 'bin')}${delimiter}${path}`;
    const written = { going: true, rows: 0 };
    const writing = reading(source, async (sql) => {
      const world = new World(sql);
      const run = { id: 9_000, at: new Date(start + 97 * HOUR) };
      for (; written.going; written.rows++) await world.block(run, 10_000 + written.rows, run.at);
    });
    // Two tables that are counted at different moments of the backup would differ.
    const manifest = await backUp({
      databaseUrl: source,
      to: whole,
      signal,
      progress: () => {},
    });
    const before = written.rows;
    written.going = false;
    await writing;
    process.env.PATH = path;
    expect(readFileSync(seen, 'utf8')).toMatch(/--snapshot=/);
    expect(readFileSync(seen, 'utf8')).not.toContain(new URL(source).password.slice(0, 5));
    expect(readdirSync(folder).filter((name) => name.includes('incomplete'))).toEqual([]);

    target = await blank('backup_target');
    const restored = await restoreBackup({ databaseUrl: target, from: whole, manifest, signal });
    expect(restored?.verified).toMatchObject({
      seal: 1,
      head: manifest.contents.seal?.head,
      broken: [],
      differences: [],
      more: 0,
    });
    expect(restored?.verified.rows).toBeGreaterThan(1200);
    await reading(target, async (sql) => {
      expect(await schemaProblem(sql)).toBeNull();
      const [blocks] = await sql<{ rows: number }[]>`select count(*)::int as rows from reporting.p_blocks`;
      expect(blocks?.rows).toBe(manifest.contents.tables['recorder.p_blocks']);
      expect(blocks?.rows).toBeGreaterThanOrEqual(1200);
      expect(blocks?.rows).toBeLessThanOrEqual(1200 + before + 1);
      const [gap] = await sql`select dataset, reason from reporting.losses`;
      expect(gap).toEqual({ dataset: 'validators', reason: 'nobody looked' });
      await sql`set role recorder_reader`;
      expect((await sql`select count(*)::int as rows from mine.blocks`)[0]).toEqual(blocks);
      expect(await sql`select from reporting.coverage`).toHaveLength(1);
    });
    // A record is never restored over another one, and not over what a person made.
    await expect(restoreBackup({ databaseUrl: target, from: whole, manifest, signal })).rejects.toThrow(
      'an empty database',
    );
    await expect(backUp({ databaseUrl: source, to: whole, signal })).rejects.toThrow('exists already');
  });

  it('that is damaged is refused, and one whose rows are not those that were counted is not taken for a record', async () => {
    const manifest = await readManifest(whole);
    const other = await blank('backup_damaged');
    const short = join(folder, 'short');
    await backUp({ databaseUrl: source, to: short, signal });
    const good = await readManifest(short);
    truncateSync(join(short, 'record.dump'), good.dump.bytes - 1);
    await expect(restoreBackup({ databaseUrl: other, from: short, manifest: good, signal })).rejects.toThrow(
      'is damaged',
    );
    await reading(other, async (sql) => expect(await readMark(sql)).toBeNull());

    const counted = { ...manifest.contents.tables, 'recorder.coverage': 7 };
    const miscounted = { ...manifest, contents: { ...manifest.contents, tables: counted } };
    await expect(
      restoreBackup({ databaseUrl: other, from: whole, manifest: miscounted, signal }),
    ).rejects.toThrow('recorder.coverage: 7 rows in the backup, 1 restored');
    await reading(other, async (sql) => expect(await schemaProblem(sql)).toContain('is being restored'));
    await expect(migrate(other)).rejects.toThrow('is being restored');
  });

  it('says everything that keeps it from being restored', async () => {
    const manifest = {
      ...(await readManifest(whole)),
      server: 99,
      migrations: 9_999,
      roles: ['nobody_here'],
      pg_dump: 99,
    };
    const refused = restoreBackup({
      databaseUrl: await blank('backup_refused'),
      from: whole,
      manifest,
      signal,
    });
    await expect(refused).rejects.toMatchObject({
      problems: [
        expect.stringContaining('of PostgreSQL 99'),
        expect.stringContaining('upgrade this one'),
        expect.stringContaining('create role "nobody_here"'),
        expect.stringContaining('needs pg_restore'),
      ],
    });
  });

  it('that is killed leaves no backup, and the next one is whole', async () => {
    const to = join(folder, 'killed');
    let killed = 0;
    for (let turn = 0; turn < KILLS; turn++) {
      const running = startCommand(['backup', '--to', to, '--json'], { DATABASE_URL: source }, folder);
      const begun = () => readdirSync(folder).some((name) => name.startsWith('killed.incomplete-'));
      while (running.process.exitCode === null && !begun()) await delay(2);
      if (turn > 0) await delay(Math.random() * 400);
      running.process.kill('SIGKILL');
      if ((await running.ended).signal === 'SIGKILL') killed += 1;
      // Where it had done all before it was killed, it is a backup.
      if (existsSync(to)) {
        await checkDump(to, await readManifest(to), signal);
        rmSync(to, { recursive: true });
      }
      for (const name of readdirSync(folder).filter((one) => one.startsWith('killed.incomplete-')))
        rmSync(join(folder, name), { recursive: true });
    }
    expect(killed).toBeGreaterThan(0);
    expect(await startCommand(['backup', '--to', to], { DATABASE_URL: source }, folder).ended).toMatchObject({
      code: 0,
    });
    await checkDump(to, await readManifest(to), signal);
  }, 600_000);

  it('whose restore loses its server is to be restored again, and is whole then', async () => {
    const manifest = await readManifest(whole);
    const databaseUrl = await blank('backup_lost');
    const way = await cutAfter(databaseUrl, 100);
    const lost = await restoreBackup({ databaseUrl: way.url, from: whole, manifest, signal }).catch(
      (error: unknown) => error,
    );
    expect(way.cut()).toBe(true);
    await way.close();
    expect(String(lost)).toMatch(/pg_restore ended with 1: .*server closed the connection unexpectedly/);
    expect(isAway(lost)).toBe(true);
    const again = await restoreBackup({ databaseUrl, from: whole, manifest, signal });
    expect(again?.verified).toMatchObject({ broken: [], differences: [] });
  });

  it('whose restore is killed is no record until it is restored again', async () => {
    const manifest = await readManifest(whole);
    const args = ['restore', '--from', whole, '--json'];
    let cut = 0;
    for (let turn = 0; turn < KILLS; turn++) {
      const name = `backup_killed_${turn}`;
      const killed = await blank(name);
      const restoring = () => startCommand(args, { DATABASE_URL: killed }, folder);
      const first = restoring();
      await reading(killed, async (sql) => {
        while (first.process.exitCode === null && !(await readMark(sql))) await delay(2);
        if (turn > 0) await delay(Math.random() * 3_000);
        first.process.kill('SIGKILL');
        await first.ended;
        const problem = await schemaProblem(sql);
        if (problem !== null) cut += 1;
        for (let code: number | null = 75; problem !== null && code !== 0; ) {
          const { code: ended, stderr } = await restoring().ended;
          code = ended;
          // 75: pg_restore of the one that was killed has not noticed yet.
          if (code !== 75 && code !== 0) throw new Error(stderr);
        }
        expect(await schemaProblem(sql)).toBeNull();
        const [row] = await sql<{ rows: number }[]>`select count(*)::int as rows from recorder.p_blocks`;
        expect(row?.rows).toBe(manifest.contents.tables['recorder.p_blocks']);
      });
      await dropDatabase(admin, name);
      names.splice(names.indexOf(name), 1);
    }
    expect(cut).toBeGreaterThan(0);
  }, 600_000);

  it('whose restore was cut off after it was loaded is checked, not loaded again', async () => {
    const manifest = await readManifest(whole);
    await reading(target, (sql) => setMark(sql, { backup: manifest.dump.sha256, stage: 'checking' }));
    const steps: string[] = [];
    const begins = (step: string) => void steps.push(step);
    expect(
      await restoreBackup({ databaseUrl: target, from: whole, manifest, signal, begins }),
    ).not.toBeNull();
    expect(steps).toEqual(['comparing with the backup', 'verifying the seals']);
  });
});
