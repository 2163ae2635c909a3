import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { stringify } from 'yaml';
import { hashStatement } from '../../src/reporting/seals/statement.ts';
import { noBadPlaces, smallDisk } from '../support/bad-places.ts';
import { startCommand } from '../support/cli.ts';
import { withDatabase } from '../support/fixture.ts';

const dir = mkdtempSync(join(tmpdir(), 'recorder-sealing-'));
const { it, database, sql } = withDatabase({ max: 1 });

beforeAll(async () => {
  const nodes = [{ name: 'one', url: 'http://127.0.0.1:1' }];
  writeFileSync(join(dir, 'recorder.yaml'), stringify({ network: 'fuji', upstreams: { nodes } }));
});
afterAll(async () => {
  rmSync(dir, { recursive: true });
});

const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const seal = (args: readonly string[], before: readonly string[] = []) =>
  startCommand(
    ['seal', ...args],
    { DATABASE_URL: database.url, SEAL_KEY: pem, LOG_LEVEL: 'error' },
    dir,
    undefined,
    before,
  ).ended;

it('where the signature cannot be written nothing is sealed', async () => {
  mkdirSync(join(dir, 'other.txt.sig'));
  const { code, stderr } = await seal(['--out', 'other.txt']);
  expect(stderr).toMatch(/^--out other\.txt\.sig: is a folder/);
  expect(code).toBe(2);
  expect(await sql`select from recorder.seals`).toHaveLength(0);
});

it.skipIf(noBadPlaces)('where the disk is full only then, the seal stands, and that is said', async () => {
  mkdirSync(join(dir, 'disk'));
  const { code, stderr } = await seal(['--out', 'disk/seal.txt'], smallDisk(join(dir, 'disk'), 4));
  expect(stderr).toMatch(
    /--out disk\/seal\.txt: the disk is full: .*\(seal 1 is made: .* writes its statement/,
  );
  expect(code).toBe(1);
});

it('the statement of the newest seal is written also where nothing is new', async () => {
  expect((await seal([])).code).toBe(0);
  // The newest seal reaches further than the clock.
  await sql`update recorder.seals set until = now() + interval '1 day'`;
  const { code, stdout, stderr } = await seal(['--out', 'seal.txt', '--json']);

  expect(stderr).toContain('all of it is sealed already');
  expect(code).toBe(0);
  const statement = readFileSync(join(dir, 'seal.txt'), 'utf8');
  const [newest] = await sql`
    select seal, statement, signature from recorder.seals where made_at is not null order by seal desc limit 1`;
  expect(statement).toBe(newest?.statement);
  expect(readFileSync(join(dir, 'seal.txt.sig'))).toEqual(newest?.signature);
  expect(JSON.parse(stdout)).toMatchObject({ seal: newest?.seal, statement, head: hashStatement(statement) });
});
