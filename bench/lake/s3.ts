import { deepStrictEqual } from 'node:assert';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { readEnvironment } from '../../src/config/environment.ts';
import { sealUntil } from '../../src/reporting/seals/seal.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { bookkeepingTables } from '../../src/warehouse/bookkeeping.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { type ExportTable, warehouseTables } from '../../src/warehouse/export-table.ts';
import { currentManifest, type Manifest } from '../../src/warehouse/manifest.ts';
import { openTarget } from '../../src/warehouse/open-target.ts';
import { openDuck, rowsInDuck, rowsInPostgres, versionsOf } from '../../test/warehouse/lake.ts';
import { writeRows } from '../../test/warehouse/synthetic.ts';
import { startDatabase } from '../database.ts';

/**
 * Kills an S3 server while exports to it run, then restores from it. Fails if the previous manifest changes or names a
 * file with another content, if the next export does not complete, if the files do not equal the record in the end, or
 * if a killed restore leaves anything. By hand, after `npm run build`, with AWS_ENDPOINT_URL, AWS_REGION and keys, and
 * the command of the server, which has to keep its objects when it is killed (such as a gateway of Ceph): `npx tsx
 * bench/lake/s3.ts --to s3://bucket/new --server 'radosgw -f …' [--kills 50] [--restores 20]`.
 */
const { values } = parseArgs({
  options: {
    to: { type: 'string' },
    server: { type: 'string' },
    kills: { type: 'string', default: '50' },
    restores: { type: 'string', default: '20' },
  },
});
const { to = '', server: command = '' } = values;
const PROGRAM = resolve(import.meta.dirname, '../../dist/cli.js');
if (!existsSync(PROGRAM)) throw new Error('the recorder is not built: npm run build');
if (to === '' || command === '') throw new Error('--to and --server are needed');
const { s3 } = readEnvironment();
const signal = new AbortController().signal;
const fewTables = warehouseTables.filter(({ name }) =>
  ['metric_points', 'validators', 'native_transactions', 'node_health', 'health_absences'].includes(name),
);

const database = await startDatabase();
const connect = (url: string) =>
  postgres(url, { max: 1, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
const sql = connect(database.url);
const folder = await mkdtemp(join(tmpdir(), 'chain-recorder-bench-'));
const target = await openTarget(to, s3);
const log = (text: string) => console.log(`${text}; load ${loadavg()[0]?.toFixed(1)}`);

/** The server, until it is killed. */
async function startServer() {
  const [program = '', ...rest] = command.split(' ');
  const child = spawn(program, rest, { stdio: 'ignore' });
  const ended = new Promise<void>((settle, reject) => {
    child.once('exit', () => settle());
    child.once('error', reject);
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  while (!(await isReachable())) await Promise.race([delay(50), ended.then(() => fail('the server ended'))]);
  return { kill };
}

const isReachable = () =>
  fetch(s3.endpoint ?? '').then(
    () => true,
    () => false,
  );

function fail(text: string): never {
  throw new Error(text);
}

async function runExport(tables: readonly ExportTable[]): Promise<Manifest> {
  const options = { databaseUrl: database.url, target, tables, signal } as const;
  return (await exportTables({ ...options, format: 'parquet', incremental: true })).manifest;
}

/** Downloads every file that a manifest names, unless it is here already, and compares it with its checksum. */
async function expectFiles({ tables }: Manifest): Promise<void> {
  for (const { path, sha256 } of Object.values(tables).flatMap(({ files }) => files)) {
    const place = join(folder, 'lake', path);
    if (existsSync(place)) continue;
    const download = await target.fetch(path, folder);
    const found = createHash('sha256')
      .update(await readFile(download))
      .digest('hex');
    if (found !== sha256) fail(`${path} differs from its checksum in the manifest`);
    await mkdir(dirname(place), { recursive: true });
    await rename(download, place);
  }
}

async function killServers(): Promise<void> {
  let server = await startServer();
  try {
    for (const table of fewTables) await writeRows(sql, table, 1, 100);
    let before = await runExport(fewTables);
    for (const table of fewTables) await writeRows(sql, table, 500, 20);
    const startedAt = performance.now();
    before = await runExport(fewTables);
    const exportMs = performance.now() - startedAt;
    let [kills, failed, advanced, late] = [0, 0, 0, 0];
    for (let turn = 1; kills < Number(values.kills); turn += 1) {
      for (const table of fewTables) await writeRows(sql, table, turn * 1_000, 20);
      let running = true;
      const exporting = runExport(fewTables)
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          running = false;
        });
      await Promise.race([exporting, delay(Math.random() * exportMs * 1.2)]);
      const wasRunning = running;
      if (wasRunning) kills += 1;
      else late += 1;
      await server.kill();
      await delay(Math.random() * 1_000);
      server = await startServer();
      if (!(await exporting)) failed += 1;
      const after = (await currentManifest(target)) ?? fail('the manifest is missing');
      if (after.export === before.export) deepStrictEqual(after, before);
      else if (wasRunning) advanced += 1;
      await expectFiles(after);
      before = await runExport(fewTables);
      if (before.export !== after.export + 1) fail('the next export did not count');
      await expectFiles(before);
    }
    await expectRecord(before);
    log(
      `${kills} kills of the server within ${(exportMs / 1000).toFixed(1)} s of an export (${late} more after it): ${failed} exports failed, ` +
        `${advanced} of the killed exports had written their manifest; the previous manifest was unchanged in all others, every file matched its checksum, every next export completed`,
    );
  } finally {
    await server.kill();
  }
}

/** Compares the files that a manifest names with the record. */
async function expectRecord({ tables }: Manifest): Promise<void> {
  const paths = new Set(Object.values(tables).flatMap(({ files }) => files.map(({ path }) => path)));
  const duck = await openDuck();
  for (const table of fewTables) {
    const tablePaths = [...paths].filter((path) => path.startsWith(`${table.name}/`));
    const place = join(folder, 'last');
    for (const path of tablePaths) {
      await mkdir(dirname(join(place, path)), { recursive: true });
      await rename(join(folder, 'lake', path), join(place, path));
    }
    deepStrictEqual(
      await rowsInDuck(duck, versionsOf(place, table), table),
      await rowsInPostgres(sql, table),
    );
  }
  duck.close();
}

/** Restores with the command line. @returns its exit code; null: it was killed */
async function restoreAndKill(url: string, after: number): Promise<number | null> {
  const child = spawn(process.execPath, [PROGRAM, 'restore', '--from', to], {
    ...{ cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
    env: { ...process.env, DATABASE_URL: url },
  });
  const ended = new Promise<number | null>((settle) => child.once('exit', settle));
  await Promise.race([ended, delay(after, undefined, { ref: false })]);
  child.kill('SIGKILL');
  return ended;
}

/** A new database beside the record, with all tables. */
async function createEmptyDatabase(name: string): Promise<string> {
  await sql.unsafe(`create database ${name}`);
  const url = new URL(database.url);
  url.pathname = name;
  await migrate(url.href);
  return url.href;
}

async function tablesWithRows(on: postgres.Sql): Promise<string[]> {
  const names = [...new Set([...warehouseTables.map(({ name }) => name), ...bookkeepingTables])];
  const selects = names.map((name) => `select '${name}' as name where exists (select from recorder.${name})`);
  return (await on.unsafe<{ name: string }[]>(selects.join(' union all '))).map(({ name }) => name);
}

async function killRestores(): Promise<void> {
  const server = await startServer();
  try {
    for (const table of warehouseTables) await writeRows(sql, table, 1_000_001, 2_000);
    const sealOptions = { databaseUrl: database.url, clock: Date.now, key: undefined, signal };
    await sealUntil(sealOptions, Date.now());
    await runExport(warehouseTables);
    const startedAt = performance.now();
    if ((await restoreAndKill(await createEmptyDatabase('first'), 600_000)) !== 0) fail('a restore failed');
    const restoreMs = performance.now() - startedAt;
    const restoreCount = Number(values.restores);
    let [url, late] = [await createEmptyDatabase('killed'), 0];
    for (let turn = 1; turn <= restoreCount; turn += 1) {
      const code = await restoreAndKill(url, (restoreMs * turn) / (restoreCount + 1));
      const on = connect(url);
      const filled = await tablesWithRows(on);
      await on.end();
      if (filled.length === 0) continue;
      if (code !== null && code !== 0) fail(`a restore ended with ${code}`);
      // It had committed, and was verifying its seals.
      late += 1;
      deepStrictEqual(filled.sort(), (await tablesWithRows(sql)).sort());
      url = await createEmptyDatabase(`killed${turn}`);
    }
    if ((await restoreAndKill(url, 600_000)) !== 0) fail('the restore after the kills failed');
    const on = connect(url);
    for (const table of warehouseTables)
      deepStrictEqual(await rowsInPostgres(on, table), await rowsInPostgres(sql, table));
    await on.end();
    log(
      `${restoreCount} kills of a restore of ${(restoreMs / 1000).toFixed(1)} s, from its start to its end: ${restoreCount - late} left no rows, ${late} had committed everything; ` +
        'the one after them restored the record, and its seals are those of the rows',
    );
  } finally {
    await server.kill();
  }
}

try {
  if (Number(values.kills) > 0) await killServers();
  if (Number(values.restores) > 0) await killRestores();
} finally {
  await target.close();
  await sql.end();
  await database.close();
  await rm(folder, { recursive: true, force: true });
}
