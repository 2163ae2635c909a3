import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { currentManifest, manifestPaths } from '../../src/warehouse/manifest.ts';
import { type Running, startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Duck, openDuck, rowsInDuck, rowsInPostgres, versionsOf } from './lake.ts';
import { writeRows } from './synthetic.ts';

const { it, database, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC' } });
let duck: Duck;
const folder = temporaryFolder('export-killed');
const lake = join(folder, 'lake');

beforeAll(async () => {
  duck = await openDuck();
  writeFileSync(join(folder, 'recorder.yaml'), 'network: mainnet\n');
});
afterAll(async () => {
  duck?.close();
});

/** Number of kills of the exporter. By hand: TEST_KILLS=200. */
const KILLS = Number(process.env.TEST_KILLS ?? 3);

const start = (): Running =>
  startCommand(
    ['export', 'all', '--to', lake, '--incremental', '--json'],
    { DATABASE_URL: database.url },
    folder,
  );

const files = (): string[] =>
  readdirSync(lake, { recursive: true })
    .map(String)
    .filter((one) => one.endsWith('.parquet'));
const manifest = () => currentManifest(new DirectoryTarget(lake));

it('leaves the previous manifest valid when an exporter is killed, and the next one completes', async () => {
  for (const table of warehouseTables) await writeRows(sql, table, 1, 30);
  expect(await start().ended).toMatchObject({ code: 0 });
  let killed = 0;
  for (let turn = 1; turn <= KILLS; turn += 1) {
    const before = await manifest();
    for (const table of warehouseTables) await writeRows(sql, table, turn * 1_000, 6);
    const there = files().length;
    const killAt = there + Math.floor((turn * warehouseTables.length * 3) / (KILLS + 1));
    const running = start();
    while (running.process.exitCode === null && files().length < killAt) await delay(5);
    running.process.kill('SIGKILL');
    const { signal } = await running.ended;
    killed += signal === 'SIGKILL' ? 1 : 0;
    const after = await manifest();
    // After a kill behind the manifest, it is the next one.
    if (signal === 'SIGKILL' && after?.export === before?.export) expect(after).toEqual(before);
    for (const { path } of Object.values(after?.tables ?? {}).flatMap((table) => table.files))
      expect(files()).toContain(path);
    if (turn % 3 === 0) expect(await start().ended).toMatchObject({ code: 0 });
  }
  expect(killed).toBeGreaterThan(KILLS / 2);
  expect(await start().ended).toMatchObject({ code: 0 });
  // The files of the killed ones are removed. Read from the folder, and by the manifest alone.
  const counted = await manifest();
  expect(files().sort()).toEqual(counted === null ? [] : [...new Set(manifestPaths(counted))].sort());
  for (const table of warehouseTables) {
    const there = await rowsInPostgres(sql, table);
    expect(await rowsInDuck(duck, versionsOf(lake, table), table), table.name).toEqual(there);
    const named = counted?.tables[table.name]?.files.map(({ path }) => `'${lake}/${path}'`) ?? [];
    const identity = [...table.key, table.from].join(', ');
    const only = `(select * from read_parquet([${named.join(', ')}], union_by_name = true)
      qualify row_number() over (partition by ${identity} order by exported_at desc) = 1)`;
    expect(await rowsInDuck(duck, only, table), table.name).toEqual(there);
  }
}, 600_000);
