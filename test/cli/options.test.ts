import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { refusalOf } from '../support/command-line.ts';
import { withDatabase } from '../support/fixture.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { it, database } = withDatabase();
const dir = temporaryFolder('options');

beforeAll(async () => {
  const nodes = [{ name: 'one', url: 'http://127.0.0.1:1' }];
  writeFileSync(join(dir, 'recorder.yaml'), stringify({ network: 'fuji', upstreams: { nodes } }));
});

const day = '--from 2026-01-01 --to 2026-01-02';

const refused: readonly (readonly [line: string, problem: string])[] = [
  ['record no_such_dataset', 'no_such_dataset'],
  ['record chain_heights --target node=unknown', 'no target matches'],
  [`backfill node_identity ${day}`, 'only the current state'],
  [`backfill node_identity ${day}`, 'proposed_blocks'],
  [`backfill node_identity ${day}`, 'p_blocks'],
  [
    `backfill p_blocks ${day}`,
    '--from, --to: the dataset is recorded by height: use --from-height and --to-height',
  ],
  [
    'backfill p_blocks --from-height x --to-height y',
    '--from-height x: must be a height, such as 0\n--to-height y: must',
  ],
  ['backfill p_blocks --to-height 5', '--from-height …: must be a height'],
  ['backfill p_blocks --from-height 5 --to-height 5', '--from-height 5: must be below --to-height'],
  [
    'backfill metric_points --from-height 0 --to-height 5',
    'the dataset is recorded by time: use --from and --to',
  ],
  ['up --roles worker,king', 'king'],
  ['record node_identity --config missing.yaml', 'missing.yaml'],
  ['quarantine redrive 5', '"quarantine redrive" accepts no argument: remove "5"'],
  ['quarantine list 5', '"quarantine list" accepts no argument: remove "5"'],
  ['maintenance list --node one', '--node: is an option of "maintenance announce"'],
  ['maintenance end 1 --to 2030-01-01', '--to: is an option of "maintenance announce"'],
  ['maintenance announce 7 --to 2030-01-01', '"maintenance announce" accepts no argument: remove "7"'],
  ['incidents list --by ann', '--by: is an option of "incidents note"'],
  ['alerts list --every 5m', '--every: is an option of "alerts replay"'],
  ['alerts test ops --rule node-down', '--rule: is an option of "alerts list" and "alerts replay"'],
  ['alerts replay ops --from 2026-01-01', '"alerts replay" accepts no argument: remove "ops"'],
  ['alerts --from 2026-01-02 --to 2026-01-01', '--from 2026-01-02: must be before --to'],
  [
    'report uptime --month 2026-01',
    '--month 2026-01: is not an option of "report uptime"; its options: --from, --to, --node, --as-of',
  ],
  ['report uptime --slo 99', '--slo 99: is not an option of "report uptime"'],
  [
    'report sla --from 2026-01-01',
    '--from 2026-01-01: is not an option of "report sla"; its options: --month, --slo PERCENT',
  ],
  ['report discrepancies --node one', '--node one: is not an option of "report discrepancies"'],
  [
    'report top-chains --param metric=txCount --param metric=gasUsed',
    '--param metric=gasUsed: metric is given twice',
  ],
  ...['discrepancies', 'series-breaks'].map(
    (name) =>
      [
        `report ${name} --as-of 2026-03-01`,
        `--as-of 2026-03-01: is not an option of "report ${name}": found_at and ended_at have the times at which something was known`,
      ] as const,
  ),
  [
    'report incident --month 2026-03',
    '--month 2026-03: is not an option of "report incident"; its options: --node, --from, --to',
  ],
  [
    'report series-breaks --node a',
    '--node a: is not an option of "report series-breaks"; its options: --from, --to',
  ],
  ['report discrepancies --from 2026-03-02 --to 2026-03-01', '--from 2026-03-02: must be before --to'],
  ['report status --format json', '--out: give the folder for the files'],
  [
    'report status --out x --from 2026-01-01 --node ill',
    '--from 2026-01-01: is not an option of "report status"; its options: --out FOLDER\n--node ill: is not an option of "report status"',
  ],
  ['report status --out x --format csv', '--format csv: must be one of table, json'],
  ['report --format csv', '--format csv: must be one of table, json'],
  ['report uptime --json --format csv', '--json and --format csv exclude each other: use one of them'],
  ['query x --json --format table', '--json and --format table exclude each other: use one of them'],
  ['seal --out nowhere/seal.txt', '--out nowhere/seal.txt: there is no folder'],
  ['seal --out recorder.yaml/seal.txt', '--out recorder.yaml/seal.txt: '],
  ['seal --out=', '--out: is empty'],
  ['seal --out .', '--out .: is a folder'],
  ['export peers --to s3:/bucket', '--to s3:/bucket: must be a folder, or a bucket such as s3://'],
  ['plan --config ', '--config: is empty: name a file'],
  ['report sla --month 0000-01', '--month 0000-01: must be a month such as 2026-11'],
  ['report sla --month 2026-13', '--month 2026-13: must be a month such as 2026-11'],
  ['report sla --month 99999-01', '--month 99999-01: must be a month such as 2026-11'],
  ['report sla --month 9999-01', '--month 9999-01: has not started'],
  ...['0x10', '1e1', '+5', '5_0', '٣', '', '0', '100.1', '-1', '.5', 'NaN'].map(
    (text) => [`report sla --slo ${text}`, `--slo ${text}: must be a percentage such as 99.9`] as const,
  ),
  ['report sla --month x --slo y', '--month x: must be a month such as 2026-11\n--slo y: must be a perc'],
  ...['5', '0x10s', '1e3s', '+5s', '٣s', '5_0s', '4s', '2d', '99999999999999999999s', 'PT5S'].map(
    (text) =>
      [`query x --timeout ${text}`, `--timeout ${text}: must be a duration such as 30s or 10m`] as const,
  ),
  [
    'query x --format y --timeout 5 --as-of z',
    '--format y: must be one of table, csv, json, parquet\n--timeout 5: must be a duration such as 30s or 10m, from 5s to 1d\n--as-of z: must be',
  ],
  [
    'backfill metric_points --from x --to 2026-02-31',
    '--from x: must be a time such as 2026-12-01, 2026-12-01T02:00 (UTC) or 2026-12-01T02:00:00+01:00\n--to 2026-02-31: must be a time',
  ],
  ['backfill points --from 2026-01-01 --to y', 'DATASET: there is no dataset "points"'],
  ['backfill points --from 2026-01-01 --to y', '--to y: must be a time'],
  [
    'report uptime --from x --to y',
    'must be a time such as 2026-12-01, 2026-12-01T02:00 (UTC) or 2026-12-01T02:00:00+01:00\n--to y:',
  ],
  ['report top-chains --from x --to y', 'or 2026-12-01T02:00:00+01:00\n--to y: must be a time'],
  ['maintenance announce --from x --to y', 'or 2026-12-01T02:00:00+01:00\n--to y: must be a time'],
  ['alerts replay --from x --to y', 'or 2026-12-01T02:00:00+01:00\n--to y: must be a time'],
  ['verify --from 2026-01-02 --to 2026-01-01', '--from 2026-01-02: must be before --to'],
  ['record validatrs', 'DATASET: there is no dataset "validatrs"; did you mean validators?'],
  [
    'record chain_heights --target nod=one',
    '--target nod=one: no such key; did you mean node? there are node',
  ],
  ['backfill metric_points', '--from …: must be a time such as'],
  ['report slaa', 'report slaa: there is no such report; did you mean sla?'],
  ['report sla --node onee', '--node onee: the configuration has no such node; did you mean one?'],
  ['incidents note onee --by a --note b', 'onee: the configuration has no such node; did you mean one?'],
  [
    'maintenance announce --node onee --to 2099-01-01',
    '--node onee: the configuration has no such node; did you mean one?',
  ],
  [
    'report stake-expiring --param dayz=3',
    '--param dayz=3: stake-expiring has no such parameter; did you mean days?',
  ],
  ['alerts --rule node-dwn', '--rule node-dwn: there is no such rule; did you mean node-down?'],
  [
    'alerts replay --from 2026-01-01 --rule node-dwn',
    '--rule node-dwn: no enabled rule has this name; did you mean node-down?',
  ],
];

describe('options without an effect', () => {
  it.each(refused)('are refused: %s', async (line, problem) => {
    const problems = await refusalOf(line.split(' '), dir, { DATABASE_URL: database.url });
    expect(problems.join('\n')).toContain(problem);
    expect(problems.length).toBeLessThan(4);
  });
});

it.each([
  ['selct 1', 'syntax error'],
  [
    'select from validatorss',
    'relation "validatorss" does not exist, at character 13; did you mean validators?',
  ],
  ['select from reporting.gapss', 'did you mean gaps?'],
  ['select from xyzzy', 'relation "xyzzy" does not exist, at character 13'],
  ['drop table x', 'must return rows'],
  ['select 1', 'must be one of table, csv, json, parquet', '--format', 'xml'],
  ['select 1', '--timeout soon', '--timeout', 'soon'],
  ['select 1', '--timeout 30d', '--timeout', '30d'],
  ['select 1', '--as-of soon', '--as-of', 'soon'],
  ['select 1', 'is in the future', '--as-of', '2999-01-01'],
  ['select 1 as a, 2 as a', 'two columns are named a', '--json'],
  ['select 1 as a, 2 as a', 'two columns are named a', '--format', 'parquet'],
])('refuses the query %j: %s', async (statement, problem, ...options) => {
  const problems = await refusalOf(['query', statement, ...options], dir, { DATABASE_URL: database.url });
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

it.each([
  'migrate',
  'plan',
  'retention',
  'record peers',
  'backfill metric_points --from 2026-01-01 --to 2026-01-02',
  'coverage',
  'heal',
  'quarantine',
  'query table(coverage)',
  'report uptime',
  'seal',
  'verify',
  'export peers --to lake',
  'backup --to backup',
  'restore --from backup',
  'maintenance',
  'incidents',
  'alerts',
])('%s reports where a database refuses it, why and the fix', async (line) => {
  const wrong = new URL(database.url);
  wrong.password = 'canary-of-the-refused';
  const [problem, ...more] = await refusalOf(line.split(' '), dir, { DATABASE_URL: wrong.href });
  expect(more).toEqual([]);
  expect(problem).toMatch(
    /^DATABASE_URL: 127\.0\.0\.1:\d+ refuses the password of the user "\w+", or has no such user: correct user and password/,
  );
  expect(problem).not.toContain('canary');
});
