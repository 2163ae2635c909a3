import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { stringify } from 'yaml';
import { hashStatement } from '../../src/reporting/seals/statement.ts';
import { noBadPlaces, smallDisk } from '../support/bad-places.ts';
import { startCommand } from '../support/cli.ts';
import { runCommand } from '../support/command-line.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dir = temporaryFolder('sealing');
const { it, database, sql } = withDatabase({ max: 1 });

beforeAll(async () => {
  const nodes = [{ name: 'one', url: 'http://127.0.0.1:1' }];
  writeFileSync(join(dir, 'recorder.yaml'), stringify({ network: 'fuji', upstreams: { nodes } }));
});

const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const environment = { DATABASE_URL: database.url, SEAL_KEY: pem, LOG_LEVEL: 'error' };
const seal = (...args: string[]) => runCommand(['seal', ...args], environment, dir);

it('seals nothing if the signature cannot be written', async () => {
  mkdirSync(join(dir, 'other.txt.sig'));
  const { code, stderr } = await seal('--out', 'other.txt');
  expect(stderr).toMatch(/^--out other\.txt\.sig: is a folder/);
  expect(code).toBe(2);
  expect(await sql`select from recorder.seals`).toHaveLength(0);
});

it.skipIf(noBadPlaces)(
  'keeps a seal whose statement does not fit on the disk, and reports the full disk',
  async () => {
    mkdirSync(join(dir, 'disk'));
    const { code, stderr } = await startCommand(
      ['seal', '--out', 'disk/seal.txt'],
      environment,
      dir,
      undefined,
      smallDisk(join(dir, 'disk'), 4),
    ).ended;
    expect(stderr).toMatch(
      /--out disk\/seal\.txt: the disk is full: .*\(seal 1 was created: .* write its statement/,
    );
    expect(code).toBe(1);
  },
);

it('writes the statement of the newest seal also if there is nothing new to seal', async () => {
  expect((await seal()).code).toBe(0);
  // The newest seal ends after the current time.
  await sql`update recorder.seals set until = now() + interval '1 day'`;
  const { code, stdout, stderr } = await seal('--out', 'seal.txt', '--json');

  expect(stderr).toContain('everything recorded so far is sealed already');
  expect(code).toBe(0);
  const statement = readFileSync(join(dir, 'seal.txt'), 'utf8');
  const [newest] = await sql`
    select seal, statement, signature from recorder.seals where made_at is not null order by seal desc limit 1`;
  expect(statement).toBe(newest?.statement);
  expect(readFileSync(join(dir, 'seal.txt.sig'))).toEqual(newest?.signature);
  expect(JSON.parse(stdout)).toMatchObject({ seal: newest?.seal, statement, head: hashStatement(statement) });
});
