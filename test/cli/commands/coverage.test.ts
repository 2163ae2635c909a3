import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { runCommand } from '../../support/command-line.ts';
import { withDatabase } from '../../support/fixture.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { it, database, sql } = withDatabase({ max: 2 });
const dir = temporaryFolder('coverage');
beforeAll(() => writeFileSync(join(dir, 'recorder.yaml'), 'network: mainnet\n'));

const command = (...args: string[]) => runCommand(args, { DATABASE_URL: database.url }, dir);

it('coverage of nothing is not reported as without gaps', async () => {
  expect((await command('coverage')).stdout).toMatch(/^no dataset is registered: [^\n]+\n$/);
});

it('coverage of a dataset that is not configured any more has its record', async () => {
  await sql`
    insert into recorder.coverage (dataset, target_key, axis, covered)
    values ('subnets', 'network=mainnet', 'time', '{[1764547200000,1764547200001)}')`;
  const { stdout } = await command('coverage', 'subnets');
  expect(stdout).toMatch(/^subnets is not registered: /);
  expect(stdout).toContain('recorded');
});

it('verify of a time that is not sealed yet fails', async () => {
  expect((await command('seal')).code).toBe(0);
  expect((await command('verify')).code).toBe(0);
  const later = await command('verify', '--from', '2126-01-01');
  expect(later).toMatchObject({ code: 1, stderr: expect.stringContaining('is not sealed yet') });
});
