import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { startCommand } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let database: TestDatabase;
const dir = mkdtempSync(join(tmpdir(), 'recorder-options-'));

beforeAll(async () => {
  database = await testDatabase();
  const nodes = [{ name: 'one', url: 'http://127.0.0.1:1' }];
  writeFileSync(join(dir, 'recorder.yaml'), stringify({ network: 'fuji', upstreams: { nodes } }));
});
afterAll(async () => {
  await database.close();
  rmSync(dir, { recursive: true });
});

const run = (line: string) => startCommand(line.split(' '), { DATABASE_URL: database.url }, dir).ended;

describe.concurrent('what a command would pass over is refused:', () => {
  it.each([
    ['quarantine redrive 5', '"quarantine redrive" takes nothing behind it, such as 5'],
    ['quarantine list 5', '"quarantine list" takes nothing behind it, such as 5'],
    ['maintenance list --node one', '--node: is an option of "maintenance announce"'],
    ['maintenance end 1 --to 2030-01-01', '--to: is an option of "maintenance announce"'],
    ['maintenance announce 7 --to 2030-01-01', '"maintenance announce" takes nothing behind it, such as 7'],
    ['incidents list --by ann', '--by: is an option of "incidents note"'],
    ['alerts list --every 5m', '--every: is an option of "alerts replay"'],
    ['alerts test ops --rule node-down', '--rule: is an option of "alerts list" and "alerts replay"'],
    ['alerts replay ops --from 2026-01-01', '"alerts replay" takes nothing behind it, such as ops'],
    ['alerts --from 2026-01-02 --to 2026-01-01', '--from 2026-01-02: must be before --to'],
    [
      'report uptime --month 2026-01',
      '--month 2026-01: uptime does not take it; it takes --from, --to, --node, --as-of',
    ],
    ['report uptime --target 99', '--target 99: uptime does not take it'],
    [
      'report sla --from 2026-01-01',
      '--from 2026-01-01: sla does not take it; it takes --month, --target PERCENT',
    ],
    ['report discrepancies --node one', '--node one: discrepancies does not take it'],
    [
      'report top-chains --target metric=txCount --target metric=gasUsed',
      '--target metric=gasUsed: metric is given twice',
    ],
    ['report --format csv', '--format csv: reports are listed as table, json'],
    ['report uptime --json --format csv', '--json, --format csv: say one of them'],
    ['query x --json --format table', '--json, --format table: say one of them'],
    ['seal --out nowhere/seal.txt', '--out nowhere/seal.txt: there is no folder'],
    ['seal --out recorder.yaml/seal.txt', '--out recorder.yaml/seal.txt: '],
    ['seal --out .', '--out .: is a folder'],
    ['export peers --to s3:/bucket', '--to s3:/bucket: must be a folder, or a bucket such as s3://'],
    ['verify --from 2026-01-02 --to 2026-01-01', '--from 2026-01-02: must be before --to'],
  ])('%s', async (line, problem) => {
    const { code, stdout, stderr } = await run(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(problem);
    expect(stderr.split('\n').length).toBeLessThan(5);
  });
});
