import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { inject } from 'vitest';
import { installedPrograms } from '../../src/backups/programs.ts';
import { embeddedHome, exists } from '../../src/db/embedded-home.ts';
import { freePort } from '../../src/db/free-port.ts';
import { migrate } from '../../src/views/migrate.ts';
import { buildTemplate } from '../support/template.ts';

const run = promisify(execFile);
const ignore = () => {};

/** A server that an installed pg_dump can dump, with the template database of the tests. */
export interface InstalledServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The server of the test run where an installed pg_dump is new enough for it, else one of pg_dump's own version, from the
 * folder in which it is. @returns null where neither is there
 */
export async function installedServer(): Promise<InstalledServer | null> {
  const url = inject('databaseUrl');
  const programs = await installedPrograms('pg_dump');
  const sql = postgres(url, { max: 1 });
  const [row] = await sql<
    { major: number }[]
  >`select current_setting('server_version_num')::int / 10000 as major`;
  await sql.end();
  if (programs.some(({ major }) => major >= (row?.major ?? 0))) return { url, stop: async () => {} };
  for (const { path } of programs) {
    if (await exists(join(dirname(path), 'initdb'))) return startServer(dirname(path));
  }
  return null;
}

async function startServer(bin: string): Promise<InstalledServer> {
  const dir = await mkdtemp(join(tmpdir(), 'recorder-test-'));
  await chmod(dir, 0o755); // as root the server runs as another user
  const { path, account } = await embeddedHome(dir, { info: ignore, warn: ignore });
  const options = { ...account, cwd: path, env: { LC_ALL: 'C' } };
  const password = 'a secret of the server';
  await writeFile(join(path, 'password'), password);
  if (account) await chown(join(path, 'password'), account.uid, account.gid);
  const making = [
    '-U',
    'recorder',
    '-A',
    'scram-sha-256',
    '--pwfile=password',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ];
  await run(join(bin, 'initdb'), ['-D', 'data', '--no-sync', ...making], options);
  const port = await freePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  const flags = settings.map((one) => `-c ${one}`).join(' ');
  await run(
    join(bin, 'pg_ctl'),
    ['start', '-D', 'data', '-l', 'log', '-w', '-t', '100', '-o', flags],
    options,
  );
  const url = `postgres://recorder:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  await buildTemplate(url, migrate);
  return {
    url,
    stop: async () => {
      await run(join(bin, 'pg_ctl'), ['stop', '-D', 'data', '-m', 'immediate', '-w'], options);
      await rm(dir, { recursive: true });
    },
  };
}
