import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../chaos/until.ts';
import { findFreePort } from '../../src/db/embedded/free-port.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Path of Debian's `pgbouncer`, or undefined. */
export const hasPgBouncer = spawnSync(PROGRAM, ['--version']).status === 0;
/** Reason why tests with PgBouncer are skipped, for their titles. */
export const noPgBouncer = hasPgBouncer ? '' : ` (skipped: there is no ${PROGRAM})`;
if (!hasPgBouncer) console.warn(`Skipping that poolers are refused: there is no ${PROGRAM}.`);

/** A pooler in front of a database. */
export interface Pooler {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer in front of the database of a URL. @param settings lines of its configuration, such as `pool_mode =
 * transaction`
 */
export async function startPgBouncer(url: string, settings: readonly string[]): Promise<Pooler> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const dir = await mkdtemp(join(tmpdir(), 'recorder-pgbouncer-'));
  await chmod(dir, 0o755); // as root it runs as another user
  const own = await findFreePort();
  const database = pathname.slice(1);
  const lines = [
    '[databases]',
    `${database} = host=${hostname} port=${port} dbname=${database} user=${username} password=${decodeURIComponent(password)}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    ...settings,
  ];
  await writeFile(join(dir, 'pgbouncer.ini'), `${lines.join('\n')}\n`);
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn(PROGRAM, ['-q', join(dir, 'pgbouncer.ini')], { stdio: 'ignore', ...nobody });
  const ended = once(child, 'exit');
  await until('PgBouncer to listen', async () => {
    const socket = createConnection(own, '127.0.0.1');
    const listens = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    return listens;
  });
  const through = new URL(url);
  through.port = String(own);
  return {
    url: through.href,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true });
    },
  };
}
