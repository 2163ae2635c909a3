import { deepStrictEqual } from 'node:assert';
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { exportTables } from '../../src/warehouse/export.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { currentManifest, type Manifest } from '../../src/warehouse/manifest.ts';
import type { ExportRequest } from '../../src/warehouse/run-exporter-process.ts';
import { openDuck, rowsInDuck, rowsInPostgres, versionsOf } from '../../test/warehouse/lake.ts';
import { writeRows } from '../../test/warehouse/synthetic.ts';
import { startDatabase } from '../database.ts';

/**
 * Kills exporters at any moment of their work, each with something new to export. Fails if the previous manifest
 * changes or names a file with another content, if the next export does not complete, or if the files do not equal the
 * record in the end. By hand, after `npm run build`: `npx tsx bench/lake/main.ts [--kills 200]`.
 */
const { values } = parseArgs({ options: { kills: { type: 'string', default: '200' } } });
const PROGRAM = resolve(import.meta.dirname, '../../dist/exporter-process.js');
if (!existsSync(PROGRAM)) throw new Error('the recorder is not built: npm run build');

const database = await startDatabase();
const sql = postgres(database.url, { max: 1, onnotice: () => {}, connection: { TimeZone: 'UTC' } });
const folder = await mkdtemp(join(tmpdir(), 'chain-recorder-bench-'));
const tables = warehouseTables.filter(({ name }) =>
  ['metric_points', 'validators', 'native_transactions', 'node_health', 'health_absences'].includes(name),
);
const target = new DirectoryTarget(folder);

async function exportAll(): Promise<Manifest> {
  const { manifest } = await exportTables({
    databaseUrl: database.url,
    target,
    tables,
    format: 'parquet',
    incremental: true,
    signal: new AbortController().signal,
  });
  return manifest;
}

/** Starts an export in its own process and kills it. @returns whether it was still running */
async function exportAndKill(after: number): Promise<boolean> {
  const child = fork(PROGRAM, [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = new Promise<NodeJS.Signals | null>((settle) =>
    child.once('exit', (_, signal) => settle(signal)),
  );
  const request: ExportRequest = {
    databaseUrl: database.url,
    to: folder,
    s3: { problems: [] },
    datasets: tables.map(({ dataset }) => dataset),
    format: 'parquet',
  };
  child.send(request, () => {});
  await Promise.race([ended, delay(after)]);
  child.kill('SIGKILL');
  return (await ended) === 'SIGKILL';
}

/** Compares every file that a manifest names, byte for byte. @param comparedPaths those that were compared before */
async function expectFiles(manifest: Manifest, comparedPaths: Set<string>): Promise<void> {
  for (const { path, sha256 } of Object.values(manifest.tables).flatMap(({ files }) => files)) {
    const bytes = await readFile(join(folder, path));
    if (!comparedPaths.has(path) && createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new Error(`${path} differs from its checksum in the manifest`);
    comparedPaths.add(path);
  }
}

try {
  const killCount = Number(values.kills);
  const comparedPaths = new Set<string>();
  for (const table of tables) await writeRows(sql, table, 1, 100);
  let before = await exportAll();
  // Duration of an export in a process: a kill may come at any moment of it.
  const startedAt = performance.now();
  await exportAndKill(60_000);
  const exportMs = performance.now() - startedAt;
  before = (await currentManifest(target)) ?? before;
  let [kills, advanced, late] = [0, 0, 0];
  for (let turn = 1; kills < killCount; turn += 1) {
    for (const table of tables) await writeRows(sql, table, turn * 1_000, 20);
    if (await exportAndKill(Math.random() * exportMs * 1.1)) kills += 1;
    else late += 1;
    const after = await currentManifest(target);
    if (!after) throw new Error('the manifest is missing');
    if (after.export === before.export) deepStrictEqual(after, before);
    else advanced += 1;
    await expectFiles(after, comparedPaths);
    before = await exportAll();
    if (before.export !== after.export + 1) throw new Error('the next export did not count');
    await expectFiles(before, comparedPaths);
  }
  const duck = await openDuck();
  let rows = 0;
  for (const table of tables) {
    const expected = await rowsInPostgres(sql, table);
    deepStrictEqual(await rowsInDuck(duck, versionsOf(folder, table), table), expected);
    rows += expected.length;
  }
  duck.close();
  console.log(
    `${kills} kills within ${(exportMs / 1000).toFixed(1)} s of an export (${late} had ended, ${advanced} had written their manifest): the manifest before held, ` +
      `every file matched its checksum, every next export completed, and the ${rows} rows in the files equal the record; load ${loadavg()[0]?.toFixed(1)}`,
  );
} finally {
  await sql.end();
  await database.close();
  await rm(folder, { recursive: true, force: true });
}
