import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { startCommand } from '../../support/cli.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, database, sql } = withDatabase();
const folder = mkdtempSync(join(tmpdir(), 'recorder-checks-'));
writeFileSync(join(folder, 'recorder.yaml'), 'network: mainnet\nwatch: {}\n');
afterAll(() => rmSync(folder, { recursive: true }));
const report = (...args: string[]) =>
  startCommand(
    ['report', ...args],
    { DATABASE_URL: database.url, RECORDER_CONFIG: join(folder, 'recorder.yaml') },
    folder,
  ).ended;

it('discrepancies prints what was found as a table and as CSV', async () => {
  await sql`
    insert into recorder.discrepancies (check_name, dataset, subject, at, left_source, left_value, right_source, right_value,
      tolerance, found_at)
    values ('metric_parts', 'metric_points', 'chain_id=1', '2026-03-01', 'sum of 24 hours', '1000', 'day', '1034', '1 %', now())`;
  expect(await report('discrepancies')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/sum of 24 hours: 1000 +day: 1034 +34 +3\.29/),
  });
  const csv = await report('discrepancies', '--format', 'csv');
  expect(csv.stdout.split('\r\n')[1]).toMatch(/^metric_parts,chain_id=1,2026-03-01T00:00:00Z,/);
});

it('series-breaks prints that there are none, and the heading of a CSV without rows', async () => {
  expect(await report('series-breaks')).toMatchObject({ code: 0, stdout: 'no level changed\n' });
  expect(await report('series-breaks', '--format', 'csv')).toMatchObject({
    code: 0,
    stdout: 'chain_id,metric,broke_at,level_before,level_after,ratio,strength,found_at\r\n',
  });
});
