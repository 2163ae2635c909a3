import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from './support/database.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const MODULES = join(root, 'node_modules');

let database: TestDatabase;
let sql: postgres.Sql;
/** An empty project in which the packed package is installed, with the examples as its sources. */
let project: string;

/** What the package is built of. */
const SOURCES = [
  ...['src', 'sandbox', 'package', 'drizzle', 'examples', 'README.md', 'LICENSE'],
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json'],
];

const CONFIG = {
  compilerOptions: {
    strict: true,
    target: 'ES2022',
    module: 'NodeNext',
    types: ['node'],
    outDir: 'out',
    skipLibCheck: true,
  },
};

/** What values of the typed views are, exactly. */
const TYPES = `
import { nodeIncidents, nodeProbes, runDays, runs, validators, validatorsAsOf } from 'chain-recorder/schema';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Validator = typeof validators.$inferSelect;
const same: [
  Same<Validator['nodeId'], string>,
  Same<Validator['weight'], string>,
  Same<Validator['startTime'], Date>,
  Same<Validator['runId'], number>,
  Same<Validator['publicKey'], string | null>,
  Same<Validator['extra'], unknown>,
  Same<(typeof nodeIncidents.$inferSelect)['failedChecks'], string[] | null>,
  Same<(typeof nodeProbes.$inferSelect)['entries'], Buffer | null>,
  Same<(typeof runDays.$inferSelect)['day'], string | null>,
  Same<(typeof runs.$inferSelect)['error'], string | null>,
] = [true, true, true, true, true, true, true, true, true, true];
void same;
void validatorsAsOf({ at: new Date() });
`;

beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 1, onnotice: () => {} });
  project = await mkdtemp(join(tmpdir(), 'project-'));
  // Packing builds: a copy, because other tests run what is built here.
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
  // Declarations of libraries are not checked; as a source they are.
  await cp(join(own, 'dist', 'schema.d.ts'), join(project, 'declarations.ts'));
}, 180_000);
afterAll(async () => {
  await sql.end();
  await database.close();
  await rm(project, { recursive: true });
});

/** What tsc says of the project, line by line. */
async function compile(...options: string[]): Promise<string[]> {
  const tsc = join(MODULES, 'typescript', 'bin', 'tsc');
  const said = await run(process.execPath, [tsc, ...options], { cwd: project, maxBuffer: 1e8 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
  );
  return said.stdout.split('\n').filter((line) => line !== '');
}

const program = (name: string) =>
  run(process.execPath, [join(project, 'out', `${name}.js`)], {
    cwd: project,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: database.url,
      LOG_LEVEL: 'warn',
    },
  });

describe('the packed package in an empty project', () => {
  it('starts nothing when it is imported', async () => {
    const before = await readdir(project);
    const { stdout, stderr } = await run(
      process.execPath,
      ['--input-type=module', '-e', "await import('chain-recorder'); await import('chain-recorder/schema');"],
      { cwd: project },
    );
    expect(stdout + stderr).toBe('');
    expect(await readdir(project)).toEqual(before);
  });

  it('compiles under strict, and its own declarations do', async () => {
    expect(await compile()).toEqual([]);
  });

  it('records and reads the record: the rows are those of plain SQL', async () => {
    const recorded = await program('record');
    expect(recorded.stdout).toMatch(/^validators .* done \[/m);
    const read = JSON.parse((await program('read')).stdout);
    const [largest, bySubnet, standing] = [
      await sql`
        select "nodeId", weight::text, since
        from (select distinct node_id as "nodeId", weight, start_time as since from reporting.validators) v
        order by v.weight desc, 1 limit 3`,
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
    expect(standing.length).toBeGreaterThan(0);
    expect(read.standing).toMatchObject([...standing]);
    expect(read.known).toBe(Number((await sql`select count(*) from reporting.validators`)[0]?.count));
    expect(read.uptime).toBe(0);
  });

  it('does not compile with a misspelt column, or a parameter of another type', async () => {
    await writeFile(
      join(project, 'misspelt.ts'),
      `import { validators, validatorsAsOf } from 'chain-recorder/schema';
      void validators.nodeID;
      void validatorsAsOf({ at: 'yesterday' });\n`,
    );
    const said = await compile('--noEmit');
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(/^misspelt\.ts\(2,.*'nodeID' does not exist/);
    expect(said[1]).toMatch(/^misspelt\.ts\(3,.*'string' is not assignable to type 'Date'/);
  });
});
