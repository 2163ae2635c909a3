import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { it, database, sql } = withDatabase();
const folder = temporaryFolder('checks');
writeFileSync(join(folder, 'recorder.yaml'), 'network: mainnet\nwatch: {}\n');
const report = (...args: string[]) =>
  runCommand(
    ['report', ...args],
    { DATABASE_URL: database.url, RECORDER_CONFIG: join(folder, 'recorder.yaml') },
    folder,
  );

it('discrepancies prints the findings as a table and as CSV', async () => {
  await sql`
    insert into recorder.discrepancies (check_name, dataset, subject, at, left_source, left_value, right_source, right_value,
      tolerance, found_at)
    values ('metric_parts', 'metric_points', 'chain_id=1', '2026-03-01', 'sum of 24 hours', '1000', 'day', '1034', '=1 %', now())`;
  expect(await report('discrepancies')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/sum of 24 hours: 1000 +day: 1034 +34 +3\.29/),
  });
  const csv = await report('discrepancies', '--format', 'csv');
  expect(csv.stdout.split('\r\n')[1]).toMatch(/^metric_parts,chain_id=1,2026-03-01T00:00:00Z,.*,'=1 %,/);
});

it('series-breaks prints that there are none, and the header of a CSV without rows', async () => {
  expect(await report('series-breaks')).toMatchObject({ code: 0, stdout: 'no level shifts\n' });
  expect(await report('series-breaks', '--format', 'csv')).toMatchObject({
    code: 0,
    stdout: 'chain_id,metric,broke_at,level_before,level_after,ratio,strength,found_at\r\n',
  });
});
