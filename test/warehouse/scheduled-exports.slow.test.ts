import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { DirectoryTarget } from '../../src/warehouse/directory-target.ts';
import { checkTarget } from '../../src/warehouse/examine-target.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { currentManifest } from '../../src/warehouse/manifest.ts';
import {
  dueExports,
  registerExports,
  storeExportFailure,
  storeExportStart,
  storeExportSuccess,
} from '../../src/warehouse/scheduled-exports.ts';
import { startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeRows } from './synthetic.ts';

const SECRET = 'canary-4711';
const { it, database, sql } = withDatabase({ max: 2 });
const folder = temporaryFolder('export-scheduled');

const problemsOf = (exports: unknown): string => {
  try {
    validateConfig({ network: 'mainnet', exports }, catalogNames, 'f');
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('exports of recorder.yaml', () => {
  it('have all datasets, once an hour, as Parquet, by default', () => {
    const { exports } = validateConfig(
      { network: 'mainnet', exports: [{ to: '/var/lake' }] },
      catalogNames,
      'f',
    );
    expect(exports).toEqual([{ to: '/var/lake', every: 3_600_000, format: 'parquet' }]);
  });

  it('that are invalid are reported, each problem with its path', () => {
    const wrong = problemsOf([
      { to: 'ftp://there/x', every: '5s' },
      { to: 's3://b', format: 'orc', datasets: ['validatorz'] },
      { to: '/var/lake/' },
      { to: '/var/lake', datasets: [] },
      { every: '1h', too: 's3://bucket' },
    ]);
    for (const problem of [
      /exports\[0\]\.to: must be a folder, or a bucket/,
      /exports\[0\]\.every: must be at least 1m/,
      /exports\[1\]\.to: must be a folder, or a bucket/,
      /exports\[1\]\.format: must be one of parquet, csv, jsonl/,
      /exports\[1\]\.datasets\[0\]: there is no "validatorz"; did you mean validators\?/,
      /exports\[3\]\.datasets: must be at least 1 long/,
      /exports\[4\]\.to: is missing/,
      /exports\[4\]\.too: no such setting; did you mean to\?/,
    ])
      expect(wrong).toMatch(problem);
    expect(problemsOf([{ to: '/var/lake/' }, { to: '/var/lake' }])).toMatch(
      /exports\[1\]\.to: "\/var\/lake" is the destination of another export/,
    );
  });
});

describe('a scheduled export', () => {
  const by = { recorder: 'due', digest: null };
  const listDue = () => dueExports(sql, 'due');

  it('is due at its interval, soon after a failure, and at once after its process was killed', async () => {
    await registerExports(sql, [{ to: 'a', every: 3_600_000, format: 'csv' }], by);
    expect(await listDue()).toEqual(['a']);
    expect(await storeExportStart(sql, 'due', 'a')).toBe(true);
    expect(await listDue(), 'killed').toEqual(['a']);
    await storeExportFailure(sql, 'due', 'a', 'no space');
    expect(await listDue(), 'just failed').toEqual([]);
    expect(await storeExportStart(sql, 'due', 'a')).toBe(false);
    await sql`update recorder.exports set last_failure_at = now() - interval '301 s'`;
    expect(await storeExportStart(sql, 'due', 'a')).toBe(true);
    const made = { export: 7, exportedAt: '2026-11-01T10:00:00.000001Z', rows: 3, bytes: 9 };
    await storeExportSuccess(sql, 'due', 'a', made);
    expect(await listDue(), 'just made').toEqual([]);
    await sql`update recorder.exports set began_at = began_at - interval '3599 s'`;
    expect(await listDue(), 'not yet').toEqual([]);
    await sql`update recorder.exports set began_at = began_at - interval '2 s'`;
    expect(await listDue()).toEqual(['a']);
    // A clock that was ahead.
    await sql`update recorder.exports set began_at = now() + interval '1 year', last_success_at = now() + interval '1 year'`;
    expect(await listDue()).toEqual(['a']);
    await registerExports(sql, [], by);
    expect(await sql`select from recorder.exports`).toHaveLength(0);
  });
});

it('is made by up, uses another place after SIGHUP, and reports a failing one, as doctor does', async () => {
  const port = await findFreePort();
  const env = { DATABASE_URL: database.url, RECORDER_PORT: String(port), METRICS_API_KEY: SECRET };
  const write = (to: string) =>
    writeFileSync(
      join(folder, 'recorder.yaml'),
      stringify({ network: 'mainnet', exports: [{ to, every: '1h' }] }),
    );
  const lake = join(folder, 'lake');
  for (const table of warehouseTables) await writeRows(sql, table, 1, 3);
  write(lake);
  const up = startCommand(['up'], env, folder);
  try {
    const storedExports = () => sql<
      { destination: string; rows: string | null; error: string | null; failures: string }[]
    >`
      select destination, rows, error, failures from reporting_internal.exports`;
    await expect
      .poll(storedExports, { timeout: 50_000 })
      .toMatchObject([{ destination: lake, rows: String(3 * warehouseTables.length), error: null }]);
    const manifest = await currentManifest(new DirectoryTarget(lake));
    expect(Object.keys(manifest?.tables ?? {})).toHaveLength(warehouseTables.length);
    const [exported] = await sql<{ same: boolean }[]>`
      select exported_at = ${manifest?.exported_at ?? ''}::text::timestamptz as same from reporting_internal.exports`;
    expect(exported?.same).toBe(true);
    const metrics = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
    expect(metrics).toMatch(/^chain_recorder_export_failures\{.*\} 0$/m);
    expect(metrics).toMatch(/^chain_recorder_exported_until_timestamp_seconds\{.*\} \d+/m);
    expect(await sql`select from reporting.findings where component = 'export'`).toHaveLength(0);

    const file = join(folder, `a-file-${SECRET}`);
    writeFileSync(file, '');
    write(file);
    up.process.kill('SIGHUP');
    await expect
      .poll(storedExports, { timeout: 50_000 })
      .toMatchObject([
        { destination: file, failures: '1', error: expect.stringContaining('a-file-[redacted]') },
      ]);
    expect(
      await sql`select state, subject, reason from reporting.findings where component = 'export'`,
    ).toEqual([
      { state: 'failing', subject: file, reason: expect.stringMatching(/a-file.*chain-recorder doctor/) },
    ]);
    const doctor = await startCommand(['doctor', '--json'], env, folder).ended;
    expect(JSON.parse(doctor.stdout)).toContainEqual({
      check: 'export',
      ok: false,
      found: expect.stringMatching(
        /^exports: .*a-file-.* is a file, where a folder has to be: name another place$/,
      ),
    });
    expect(await checkTarget(new DirectoryTarget(lake))).toMatch(/can be written to; the last export is 1/);
  } finally {
    up.process.kill('SIGTERM');
    await up.ended;
  }
});
