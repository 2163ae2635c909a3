import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { buildRecorder } from '../../chaos/build.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { sealUntil } from '../../src/reporting/seals/seal.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { commandEnvironment } from '../support/cli.ts';
import { ManualClock } from '../support/clock.ts';
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/database.ts';
import { madeUpRelease } from '../support/made-up-release.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeRows } from './synthetic.ts';

/** Migration of the later build: a column of sealed rows, and a value of rows that the first build wrote. */
const MIGRATION = [
  `alter table recorder.validators add column made_up text not null default 'made up'`,
  'alter table recorder.runs add column made_up text',
  `update recorder.runs set made_up = 'run ' || run_id`,
  'alter table recorder.runs alter column made_up set not null',
];
const NEW_FIELD = {
  file: 'datasets/node/validators.ts',
  from: 'delegatorCount: optional(uint()),',
  to: "delegatorCount: optional(uint()), madeUp: text('Made up.'),",
};

const execute = promisify(execFile);
const folder = temporaryFolder('two-builds');
const [old, mixed] = [join(folder, 'old'), join(folder, 'mixed')];
const databases: TestDatabase[] = [];
let record: TestDatabase;
let later: string;

async function own(database: Promise<TestDatabase>): Promise<TestDatabase> {
  databases.push(await database);
  return database;
}

/** Runs a command of a build on a database. */
async function command(cli: string, database: TestDatabase, ...args: readonly string[]) {
  const env = { ...commandEnvironment(folder), DATABASE_URL: database.url };
  return execute(process.execPath, [cli, ...args], { cwd: folder, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
      code,
      stdout,
      stderr,
    }),
  );
}

async function rows(database: TestDatabase, statement: string): Promise<readonly postgres.Row[]> {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} });
  return [...(await sql.unsafe(statement).finally(() => sql.end({ timeout: 1 })))];
}

const whole = { seal: 1, differences: [], broken: [], more: 0 };
const STORED = `select node_id, weight::text, made_up, run_id from recorder.validators order by node_id`;
const RUNS = 'select run_id, made_up from recorder.runs order by 1';

beforeAll(async () => {
  record = await own(testDatabase());
  const sql = postgres(record.url, { max: 2, onnotice: () => {} });
  for (const table of warehouseTables) await writeRows(sql, table, 1, 3);
  const clock = new ManualClock(Date.UTC(2026, 10, 5));
  const feed = scriptedFeed(validators, { node: 'one', subnetId: 'primary' });
  const member = { nodeID: 'recorded', weight: '9007199254740993', startTime: 1_700_000_000 };
  feed.script = () => onlyPage({ validators: [member] });
  await run(recordingContext(sql, clock.read), feed);
  clock.now += 3 * 86_400_000;
  const signal = new AbortController().signal;
  await sealUntil({ databaseUrl: record.url, clock: clock.read, key: undefined, signal }, clock.now);
  await sql.end();
  expect(await command(inject('cli'), record, 'backup', '--to', old)).toMatchObject({ code: 0 });
  cpSync(old, mixed, { recursive: true });

  await using release = await madeUpRelease(...MIGRATION);
  later = await buildRecorder(join(folder, 'later'), [NEW_FIELD]);
  rmSync(join(folder, 'later', 'drizzle'));
  cpSync(release.folder, join(folder, 'later', 'drizzle'), { recursive: true });
});
afterAll(async () => {
  for (const { close } of databases) await close();
});

describe('a backup of one build', () => {
  it('is restored by a later one, whose migration changes the restored rows', async () => {
    const restored = await own(emptyDatabase());
    const { code, stdout, stderr } = await command(later, restored, 'restore', '--from', old, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ verified: whole });
    expect(await command(later, record, 'migrate')).toMatchObject({ code: 0 });
    for (const statement of [STORED, RUNS])
      expect(await rows(restored, statement)).toEqual(await rows(record, statement));
    expect(await rows(restored, RUNS)).toMatchObject([{ made_up: expect.stringMatching(/^run \d/) }]);
  });

  it('is not restored into a schema whose migration would not change its rows', async () => {
    const migrated = await own(emptyDatabase());
    expect(await command(later, migrated, 'migrate')).toMatchObject({ code: 0 });
    expect(await command(later, migrated, 'restore', '--from', old)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is of an earlier version than the schema.*new, empty database/),
    });
    expect(await rows(migrated, RUNS)).toEqual([]);
  });

  it('is continued by a later one, and restored with the rows of both', async () => {
    const sql = postgres(record.url, { max: 1, onnotice: () => {} });
    for (const table of warehouseTables) await writeRows(sql, table, 101, 3);
    await sql.end();
    expect(await command(later, record, 'backup', '--to', mixed)).toMatchObject({ code: 0 });
    const restored = await own(emptyDatabase());
    const { code, stdout, stderr } = await command(later, restored, 'restore', '--from', mixed, '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ verified: whole });
    expect(await rows(restored, STORED)).toEqual(await rows(record, STORED));
  });

  it('is refused by an earlier one, with the fix, and nothing is created', async () => {
    const untouched = await own(emptyDatabase());
    expect(await command(inject('cli'), untouched, 'restore', '--from', mixed)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /by a newer chain-recorder \(\S+\).*restore with the version that exported it/,
      ),
    });
    expect(await rows(untouched, `select from pg_namespace where nspname = 'recorder'`)).toEqual([]);
    expect(await command(inject('cli'), record, 'backup', '--to', mixed)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/migrated by a newer chain-recorder: upgrade this one/),
    });
  });
});
