import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { embeddedHome } from '../../src/db/embedded/home.ts';
import { sealUntil } from '../../src/reporting/seals/seal.ts';
import { verify } from '../../src/reporting/seals/verify.ts';
import { migrate } from '../../src/reporting/views/migrate.ts';
import { warehouseTables } from '../../src/warehouse/export-table.ts';
import { rowsInPostgres } from '../warehouse/lake.ts';
import { writeRows } from '../warehouse/synthetic.ts';

const run = promisify(execFile);
const ROOT = '/usr/lib/postgresql';
/** The programs of an installed PostgreSQL with a server; undefined: there is none. */
const bin = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .map((version) => join(ROOT, version, 'bin'))
  .find((folder) => ['initdb', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(folder, name))));
if (!bin) console.warn('Skipping pg_dump: no PostgreSQL with initdb and pg_dump is installed.');

describe.skipIf(!bin)('a database moved by pg_dump and pg_restore, as in docs/how-to/deploy.md', () => {
  let dir: string;
  let options: { uid?: number; gid?: number; cwd: string; env: NodeJS.ProcessEnv };
  let base: string;
  const program = (name: string) => join(bin ?? '', name);

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pg-dump-'));
    await chmod(dir, 0o755); // as root the server runs as another user
    const { path, account } = await embeddedHome(dir, { info: () => {}, warn: () => {} });
    options = { ...account, cwd: path, env: { LC_ALL: 'C' } };
    await writeFile(join(path, 'password'), 'secret');
    if (account) await chown(join(path, 'password'), account.uid, account.gid);
    const how = [
      '-U',
      'recorder',
      '-A',
      'scram-sha-256',
      '--pwfile=password',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
    ];
    await run(program('initdb'), ['-D', 'data', '--no-sync', ...how], options);
    const port = await findFreePort();
    const flags = `-c port=${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
    await run(
      program('pg_ctl'),
      ['start', '-D', 'data', '-l', 'log', '-w', '-t', '100', '-o', flags],
      options,
    );
    base = `postgres://recorder:secret@127.0.0.1:${port}`;
  }, 120_000);
  afterAll(async () => {
    await run(program('pg_ctl'), ['stop', '-D', 'data', '-m', 'immediate', '-w'], options);
    await rm(dir, { recursive: true });
  });

  it.each([[['--no-owner']], [['--no-owner', '--no-acl']]])(
    'with %j can be migrated, holds every row, and matches its seals',
    async (restoring) => {
      const [from, to] = [`before_${restoring.length}`, `after_${restoring.length}`];
      const admin = postgres(`${base}/postgres`, { max: 1, onnotice: () => {} });
      for (const name of [from, to])
        await admin.unsafe(`create database ${name} template template0 encoding 'UTF8'`);
      await admin.end();
      await migrate(`${base}/${from}`);
      const before = postgres(`${base}/${from}`, {
        max: 1,
        onnotice: () => {},
        connection: { TimeZone: 'UTC' },
      });
      const after = postgres(`${base}/${to}`, {
        max: 1,
        onnotice: () => {},
        connection: { TimeZone: 'UTC' },
      });
      try {
        for (const table of warehouseTables) await writeRows(before, table, 1, 6);
        const signal = new AbortController().signal;
        const now = Date.UTC(2026, 10, 20);
        await sealUntil({ databaseUrl: `${base}/${from}`, clock: () => now, key: undefined, signal }, now);
        const dump = join(options.cwd, `${from}.dump`);
        await run(program('pg_dump'), ['--format=custom', `--file=${dump}`, `${base}/${from}`], options);
        await run(program('pg_restore'), [...restoring, `--dbname=${base}/${to}`, dump], options);
        await migrate(`${base}/${to}`);
        for (const table of warehouseTables)
          expect(await rowsInPostgres(after, table), table.name).toEqual(await rowsInPostgres(before, table));
        expect(await verify({ databaseUrl: `${base}/${to}` })).toMatchObject({
          seal: 1,
          broken: [],
          differences: [],
        });
        await after`set role recorder_reader`;
        expect(await after`select count(*)::int as count from reporting.node_validators`).toMatchObject([
          { count: expect.any(Number) },
        ]);
      } finally {
        await Promise.all([before.end(), after.end()]);
      }
    },
    120_000,
  );
});
