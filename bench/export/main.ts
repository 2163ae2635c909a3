import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import copyStreams from 'pg-copy-streams';
import postgres from 'postgres';
import { onOwnConnection } from '../../src/db/own-connection.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { type ExportTable, warehouseTables } from '../../src/warehouse/export-table.ts';
import { selectRowsSince } from '../../src/warehouse/rows-since.ts';
import { writeRows } from '../../test/warehouse/synthetic.ts';
import { startDatabase } from '../database.ts';
import { fillMetrics } from '../pages/fill-metrics.ts';

/**
 * Compares an export as Parquet with COPY of the same rows in the same order to a file, alternately. By hand, after
 * `npm run build`: `npx tsx bench/export/main.ts [--points 9100000] [--members 1000000] [--rounds 1] [--url OF A FILLED
 * DATABASE]`.
 */
const { values } = parseArgs({
  options: {
    points: { type: 'string', default: '9100000' },
    members: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '1' },
    url: { type: 'string' },
  },
});
const PROGRAM = resolve(import.meta.dirname, '../../dist/cli.js');
if (!existsSync(PROGRAM)) throw new Error('the recorder is not built: npm run build');
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const ownDatabase = values.url === undefined ? await startDatabase() : null;
const url = ownDatabase?.url ?? values.url ?? '';
const folder = await mkdtemp(join(tmpdir(), 'chain-recorder-bench-'));

function tableByName(name: string): ExportTable {
  const table = warehouseTables.find((one) => one.name === name);
  if (!table) throw new Error(`there is no table ${name}`);
  return table;
}

async function fill(): Promise<void> {
  await migrate(url);
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [points] = await sql`select from recorder.metric_points limit 1`;
    if (!points) await fillMetrics(sql, Number(values.points));
    const [members] = await sql`select from recorder.validators limit 1`;
    if (!members) await writeRows(sql, tableByName('validators'), 1, Number(values.members));
    await sql`vacuum analyze`;
  } finally {
    await sql.end();
  }
}

/** Seconds of a COPY of all rows of a table to a file, as text, in the order of the export and with its memory for sorts. */
async function timeCopy(table: ExportTable): Promise<number> {
  const select = selectRowsSince(table, { since: null, days: [] });
  const settings = { work_mem: '64MB', max_parallel_workers_per_gather: '0', TimeZone: 'UTC' };
  const file = join(folder, 'copied');
  const startedAt = performance.now();
  await onOwnConnection(url, settings, stop.signal, (client) =>
    pipeline(client.query(copyStreams.to(`copy (${select}) to stdout`)), createWriteStream(file)),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await rm(file);
  return seconds;
}

interface Export {
  readonly seconds: number;
  /** Seconds of processor time of the exporting process. */
  readonly processorSeconds: number;
  /** Its maximum memory, MiB. */
  readonly memory: number;
}

/** An export by the command line. */
async function runExport({ dataset }: ExportTable): Promise<Export> {
  await writeFile(join(folder, 'recorder.yaml'), 'network: mainnet\n');
  const startedAt = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'export', dataset, '--to', join(folder, 'lake')], {
    ...{ cwd: folder, signal: stop.signal, stdio: ['ignore', 'ignore', 'inherit'] },
    env: { ...process.env, DATABASE_URL: url },
  });
  const ended = new Promise<number | null>((settle, reject) => {
    child.once('exit', settle);
    child.once('error', reject);
  });
  let [memory, processorSeconds] = [0, 0];
  for (let isOver = false; !isOver; ) {
    isOver = await Promise.race([ended.then(() => true), delay(50, false)]);
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    memory = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? memory * 1024) / 1024;
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '');
    const [user, system] = stat.split(') ')[1]?.split(' ').slice(11, 13).map(Number) ?? [];
    processorSeconds = Math.max(processorSeconds, ((user ?? 0) + (system ?? 0)) / 100);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  if ((await ended) !== 0) throw new Error(`the export of ${dataset} failed`);
  await rm(join(folder, 'lake'), { recursive: true });
  return { seconds, processorSeconds, memory };
}

try {
  await fill();
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const table of [tableByName('metric_points'), tableByName('validators')]) {
      const copy = await timeCopy(table);
      const { seconds, processorSeconds, memory } = await runExport(table);
      console.log(
        `${table.name}: COPY ${copy.toFixed(1)} s, export ${seconds.toFixed(1)} s (${(seconds / copy).toFixed(2)} times; limit 2.0), ` +
          `its process ${processorSeconds.toFixed(1)} s of a core and ${memory.toFixed(0)} MiB (limit 256); load ${loadavg()[0]?.toFixed(1)}`,
      );
    }
} finally {
  await rm(folder, { recursive: true, force: true });
  await ownDatabase?.close();
}
