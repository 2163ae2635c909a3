import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { metricPoints } from '../src/datasets/metrics/metric-points.ts';
import { validators } from '../src/datasets/node/validators.ts';
import { acquireObserver, writeLedger } from '../src/health/ledger.ts';
import { ManualClock } from './support/clock.ts';
import { testDatabase } from './support/database.ts';
import { withDatabase } from './support/fixture.ts';
import { onlyPage, recordingContext, run as recordRun, scriptedFeed } from './support/scripted-feed.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const MODULES = join(root, 'node_modules');

const { it, database, sql } = withDatabase({ max: 1 });
/** An empty project with the packed package, and the examples as its sources. */
let project: string;

/** Sources of the package. */
const SOURCES = [
  ...['src', 'web', 'sandbox', 'package', 'drizzle', 'examples', 'README.md', 'LICENSE'],
  ...['package.json', 'tsconfig.json'],
];

const CONFIG = {
  compilerOptions: {
    strict: true,
    target: 'ES2022',
    module: 'NodeNext',
    types: ['node'],
    outDir: 'out',
    // The second time only new files are checked.
    incremental: true,
    skipLibCheck: true,
  },
};

/** Exact values of the typed views. */
const TYPES = `
import type { RecorderClient } from 'chain-recorder/client';
import { gaps, nodeIncidents, runs, nodeValidators, nodeValidatorsAsOf } from 'chain-recorder/schema';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Validator = typeof nodeValidators.$inferSelect;
const same: [
  Same<Validator['nodeId'], string>,
  Same<Validator['weight'], string>,
  Same<Validator['startTime'], Date>,
  Same<Validator['runId'], number>,
  Same<Validator['publicKey'], string | null>,
  Same<Validator['extra'], unknown>,
  Same<(typeof nodeIncidents.$inferSelect)['failedChecks'], string[] | null>,
  Same<(typeof gaps.$inferSelect)['dataset'], string | null>,
  Same<(typeof runs.$inferSelect)['error'], string | null>,
] = [true, true, true, true, true, true, true, true, true];
void same;
void nodeValidatorsAsOf({ at: new Date() });

/** What the client reads: amounts and times are texts. */
export async function read(client: RecorderClient): Promise<void> {
  for await (const row of client.rows('node_validators', { sort: '-weight', asOf: new Date() })) {
    const typed: [Same<typeof row.weight, string>, Same<typeof row.end_time, string | null>] = [true, true];
    void typed;
  }
  for await (const row of client.history('node_validators')) {
    const typed: Same<typeof row.valid_to, string | null> = true;
    void typed;
  }
  // @ts-expect-error there is no such view
  client.view('nothing');
}
`;

/** Queries of six views of different shapes, by their types. */
const VIEWS = `
import { freshness, metricPoints, nodeHealth, nodeValidators, nodeValidatorsChanges, nodeValidatorsHistory } from 'chain-recorder/schema';
import { asc, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/postgres-js';

const db = drizzle(process.env.DATABASE_URL ?? '');
const members: { nodeId: string; weight: string; since: Date; validFrom: Date }[] = await db
  .select({ nodeId: nodeValidators.nodeId, weight: nodeValidators.weight, since: nodeValidators.startTime, validFrom: nodeValidators.validFrom })
  .from(nodeValidators)
  .where(eq(nodeValidators.node, 'one'));
const history: { nodeId: string; weight: string; validTo: Date | null; endedBy: string | null }[] = await db
  .select({
    nodeId: nodeValidatorsHistory.nodeId,
    weight: nodeValidatorsHistory.weight,
    validTo: nodeValidatorsHistory.validTo,
    endedBy: nodeValidatorsHistory.endedBy,
  })
  .from(nodeValidatorsHistory)
  .orderBy(asc(nodeValidatorsHistory.nodeId), asc(nodeValidatorsHistory.validFrom));
const { at, change, nodeId, isInitial } = nodeValidatorsChanges;
const changes: { at: Date | null; change: string | null; nodeId: string | null; isInitial: boolean | null }[] = await db
  .select({ at, change, nodeId, isInitial })
  .from(nodeValidatorsChanges)
  .orderBy(asc(at), asc(nodeId));
const points: { bucketStart: Date; value: string; runId: number }[] = await db
  .select({
    bucketStart: metricPoints.bucketStart,
    value: metricPoints.value,
    runId: metricPoints.runId,
  })
  .from(metricPoints)
  .orderBy(asc(metricPoints.bucketStart));
const health: { checkName: string | null; state: string | null; message: unknown; since: Date | null }[] = await db
  .select({ checkName: nodeHealth.checkName, state: nodeHealth.state, message: nodeHealth.message, since: nodeHealth.since })
  .from(nodeHealth)
  .orderBy(asc(nodeHealth.checkName));
const standing: { dataset: string | null; every: string | null; at: Date | null; written: number | null }[] = await db
  .select({
    dataset: freshness.dataset,
    every: freshness.expectedEvery,
    at: freshness.lastSuccessAt,
    written: freshness.rowsWritten,
  })
  .from(freshness)
  .orderBy(asc(freshness.dataset));
console.log(JSON.stringify({ members, history, changes, points, health, standing }));
await db.$client.end();
`;

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
/** Beyond the exact integers of a double. */
const LARGE = '9007199254740993';

/** Two polls of a list and a metric, the second an hour later, and the states of a node by one observer. */
async function recordTwoPolls(sql: postgres.Sql): Promise<void> {
  const clock = new ManualClock(START);
  const context = recordingContext(sql, clock.read);
  const more = { every: HOUR, confirmShrink: { observations: 1, minDuration: 0 } };
  const list = scriptedFeed(validators, { node: 'one', subnetId: 'primary' }, more);
  const points = scriptedFeed(metricPoints, { chainId: '1', metric: 'txCount', timeInterval: 'day' }, more);
  const member = (nodeID: string, weight: string) => ({ nodeID, weight, startTime: START / 1000 });
  for (const [members, value] of [
    [[member('a', '1'), member('b', '1')], '1'],
    [[member('a', LARGE)], LARGE],
  ] as const) {
    list.script = () => onlyPage({ validators: members });
    points.script = () => onlyPage({ results: [{ timestamp: START / 1000, value }] });
    await recordRun(context, list);
    await recordRun(context, points);
    clock.now += HOUR;
  }
  await sql`update recorder.target_datasets set active = true`;
  await acquireObserver(sql, 'paris', 'paris');
  const reading = { node: 'one', probe: 'health', at: START, reported: true, before: 0 };
  const down = { ...reading, state: 'down', error: 'full', failingSince: null, ended: null } as const;
  await writeLedger(sql, 'paris', 'paris', {
    heartbeat: START + HOUR,
    absences: [],
    transitions: [
      { ...down, check: '*', message: null },
      { ...down, check: 'disk', message: JSON.stringify({ free: LARGE }) },
    ],
    probes: [
      {
        ...{ node: 'one', probe: 'health', probes: 1, probedAt: START, suspect: null },
        ...{ latest: null, hour: null, entries: null },
      },
    ],
  });
}

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'project-'));
  // Packing runs the build: a copy, because other tests use the build of this run.
  const sources = await mkdtemp(join(tmpdir(), 'sources-'));
  for (const name of SOURCES) await cp(join(root, name), join(sources, name), { recursive: true });
  await symlink(MODULES, join(sources, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: sources });
  await rm(sources, { recursive: true });
  const own = join(project, 'node_modules', 'chain-recorder');
  await mkdir(own, { recursive: true });
  const packed = stdout.trim().split('\n').at(-1) ?? '';
  await run('tar', ['xzf', join(project, packed), '-C', own, '--strip-components=1']);
  for (const name of await readdir(MODULES))
    if (!name.startsWith('.')) await symlink(join(MODULES, name), join(project, 'node_modules', name));
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'empty', type: 'module' }));
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify(CONFIG));
  for (const name of ['record.ts', 'read.ts']) await cp(join(own, 'examples', name), join(project, name));
  await writeFile(join(project, 'types.ts'), TYPES);
  await writeFile(join(project, 'views.ts'), VIEWS);
  // Declarations of libraries are not checked; as a source they are.
  await cp(join(own, 'dist', 'schema.d.ts'), join(project, 'declarations.ts'));
});
afterAll(async () => {
  await rm(project, { recursive: true });
});

/** Returns the output of tsc for the project, line by line. */
async function compile(...options: string[]): Promise<string[]> {
  const tsc = join(MODULES, 'typescript', 'bin', 'tsc');
  const result = await run(process.execPath, [tsc, ...options], { cwd: project, maxBuffer: 1e8 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
  );
  return result.stdout.split('\n').filter((line) => line !== '');
}

const program = (name: string, url = database.url) =>
  run(process.execPath, [join(project, 'out', `${name}.js`)], {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: url,
      LOG_LEVEL: 'warn',
    },
  });

describe('the packed package in an empty project', () => {
  it('has no side effects when it is imported', async () => {
    const before = await readdir(project);
    const { stdout, stderr } = await run(
      process.execPath,
      ['--input-type=module', '-e', "await import('chain-recorder'); await import('chain-recorder/schema');"],
      { cwd: project },
    );
    expect(stdout + stderr).toBe('');
    expect(await readdir(project)).toEqual(before);
  });

  it('compiles under strict, including its own declarations', async () => {
    expect(await compile()).toEqual([]);
  });

  it('records and queries the record: the rows equal those of plain SQL', async () => {
    const recorded = await program('record');
    expect(recorded.stdout).toMatch(/^validators .* done \[/m);
    const read = JSON.parse((await program('read')).stdout);
    const [largest, bySubnet, freshness] = [
      await sql`
        select "nodeId", stake::text, since
        from (select distinct node_id as "nodeId", stake_navax as stake, start_time as since
          from reporting.validators where stake_navax is not null) v
        order by v.stake desc, 1 limit 3`,
      await sql`
        select s.subnet_id as "subnetId", s.is_l1 as "isL1", count(v.node_id)::int as validators
        from reporting.subnets s left join reporting.validators v using (subnet_id) group by 1, 2 order by 1`,
      await sql`
        select f.dataset, f.target, max(r.run_id)::int as last from reporting.freshness f
        join reporting.runs r using (dataset, target) group by 1, 2 order by 1, 2`,
    ];
    expect(largest).toHaveLength(3);
    expect(read.largest).toEqual(JSON.parse(JSON.stringify(largest)));
    expect(bySubnet.length).toBeGreaterThan(0);
    expect(read.bySubnet).toEqual([...bySubnet]);
    expect(freshness.length).toBeGreaterThan(0);
    expect(read.standing).toMatchObject([...freshness]);
    expect(read.known).toBe(Number((await sql`select count(*) from reporting.validators`)[0]?.count));
    expect(read.uptime).toBe(0);
  });

  it('queries six views by their types: the rows equal the recorded ones', async () => {
    const recordedDatabase = await testDatabase();
    const recorded = postgres(recordedDatabase.url, { max: 1, onnotice: () => {} });
    await recordTwoPolls(recorded);
    await recorded.end();
    const [first, second] = [new Date(START).toISOString(), new Date(START + HOUR).toISOString()];
    const output: unknown = JSON.parse((await program('views', recordedDatabase.url)).stdout);
    await recordedDatabase.close();
    expect(output).toEqual({
      members: [{ nodeId: 'a', weight: LARGE, since: first, validFrom: second }],
      history: [
        { nodeId: 'a', weight: '1', validTo: second, endedBy: 'changed' },
        { nodeId: 'a', weight: LARGE, validTo: null, endedBy: null },
        { nodeId: 'b', weight: '1', validTo: second, endedBy: 'gone' },
      ],
      changes: [
        { at: first, change: 'joined', nodeId: 'a', isInitial: true },
        { at: first, change: 'joined', nodeId: 'b', isInitial: true },
        { at: second, change: 'changed', nodeId: 'a', isInitial: false },
        { at: second, change: 'left', nodeId: 'b', isInitial: false },
      ],
      points: [{ bucketStart: first, value: LARGE, runId: expect.any(Number) }],
      health: [
        { checkName: '*', state: 'down', message: null, since: first },
        { checkName: 'disk', state: 'down', message: { free: LARGE }, since: first },
      ],
      standing: [
        { dataset: 'metric_points', every: '01:00:00', at: second, written: 2 },
        { dataset: 'validators', every: '01:00:00', at: second, written: 4 },
      ],
    });
  });

  it('does not compile with a misspelt column, or a parameter of another type', async () => {
    await writeFile(
      join(project, 'misspelt.ts'),
      `import { validators, validatorsAsOf } from 'chain-recorder/schema';
      void validators.nodeID;
      void validatorsAsOf({ at: 'yesterday' });\n`,
    );
    const output = await compile('--noEmit');
    expect(output).toHaveLength(2);
    expect(output[0]).toMatch(/^misspelt\.ts\(2,.*'nodeID' does not exist/);
    expect(output[1]).toMatch(/^misspelt\.ts\(3,.*'string' is not assignable to type 'Date'/);
  });
});
