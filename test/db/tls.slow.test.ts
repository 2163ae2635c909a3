import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TcpProxy } from '../../chaos/servers/proxy.ts';
import { until } from '../../chaos/until.ts';
import { connect } from '../../src/db/connect.ts';
import { type EmbeddedPostgres, openEmbedded } from '../../src/db/embedded/embedded.ts';
import { startCommand } from '../support/cli.ts';
import { DATABASE_CONNECTIONS, SESSION_QUERY, type Session } from '../support/database-connections.ts';
import { loseAllConnections } from '../support/lost-connections.ts';
import { onPath } from '../support/on-path.ts';

const run = promisify(execFile);
const openssl = onPath('openssl');
const noOpenssl = openssl ? '' : ' (skipped: there is no openssl on PATH)';
if (!openssl) console.warn('Skipping how connections are encrypted: there is no openssl on PATH.');

describe.skipIf(!openssl)(`a server with an untrusted certificate${noOpenssl}`, () => {
  let dir: string;
  let server: EmbeddedPostgres;
  /** Returns the URL with the host name of the certificate and these parameters. */
  const url = (parameters = '', hosts = ['localhost']) => {
    const { username, password, port, pathname } = new URL(server.url);
    const servers = hosts.map((host) => `${host}:${port}`).join(',');
    return `postgres://${username}:${password}@${servers}${pathname}${parameters && `?${parameters}`}`;
  };
  const certificate = (of = 'DNS:localhost') => join(dir, `${of}.crt`);
  /** Installs a certificate of a name or an address in the server. @returns its file */
  const installCertificate = async (of: string) => {
    const [key, data] = [join(dir, `${of}.key`), join(dir, 'postgres', 'data')];
    await run(openssl ?? '', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=database'],
      ...['-addext', `subjectAltName=${of}`, '-keyout', key, '-out', certificate(of)],
    ]);
    const { uid, gid } = await stat(data);
    await chmod(key, 0o600);
    await chown(key, uid, gid);
    await chmod(certificate(of), 0o644);
    const sql = postgres(server.url, { max: 1 });
    await sql.unsafe(`alter system set ssl_key_file = '${key}'`);
    await sql.unsafe(`alter system set ssl_cert_file = '${certificate(of)}'`);
    await sql`alter system set ssl = on`;
    await sql`select pg_reload_conf()`;
    await sql.end();
    return certificate(of);
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'recorder-encrypted-'));
    await chmod(dir, 0o755); // as root the server runs as another user
    const log = { info: () => {}, warn: () => {} };
    server = await openEmbedded({ dir, log, settings: { fsync: 'off' } });
    await installCertificate('DNS:localhost');
    await until('the server to offer TLS', async () => {
      const encrypted = postgres(server.url, { max: 1, ssl: 'require' });
      const query = encrypted.unsafe<Session[]>(SESSION_QUERY).then(
        ([session]) => session?.ssl,
        () => false,
      );
      return query.finally(() => encrypted.end({ timeout: 1 }));
    });
  });
  afterAll(async () => {
    await server?.close();
    await rm(dir, { recursive: true, force: true });
  });

  describe.each(DATABASE_CONNECTIONS)('and %s', (_, readSession) => {
    it.each([
      ['', false],
      ['sslmode=disable', false],
      ['ssl=false', false],
      ['sslmode=require', true],
      ['ssl=require', true],
      ['sslmode=no-verify', true],
      ['sslmode=require&sslnegotiation=direct', true],
    ])('with "%s": encrypted is %s', async (parameters, ssl) => {
      expect(await readSession(url(parameters))).toMatchObject({ ssl });
    });

    it('encrypts to several servers without a check of the certificate, too', async () => {
      expect(await readSession(url('sslmode=require', ['localhost', '127.0.0.1']))).toMatchObject({
        ssl: true,
      });
    });

    it.each(['sslmode=verify-full', 'sslmode=verify-ca', 'ssl=true'])(
      'is refused with "%s", because it may be another server',
      async (parameters) => {
        await expect(readSession(url(parameters))).rejects.toMatchObject({
          code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
        });
      },
    );

    it('applies options of the URL, and keeps its own', async () => {
      const options = encodeURIComponent('-c work_mem=7MB -c application_name=a-user');
      expect(await readSession(url(`options=${options}`))).toMatchObject({
        ssl: false,
        work_mem: '7MB',
        name: expect.stringMatching(/^chain-recorder/),
      });
    });
  });

  it.each(['end', 'reset'] as const)(
    'a pool whose connections are all lost at once (%s) answers queries of that moment and later',
    async (how) => {
      const proxy = await TcpProxy.open(Number(new URL(server.url).port));
      const watcher = connect(server.url, 60_000, { max: 1 });
      expect(await loseAllConnections(proxy, proxy.before(url('sslmode=require')), watcher, how)).toEqual([]);
      await watcher.end();
      await proxy.close();
    },
  );

  describe('doctor', () => {
    const doctor = async (parameters: string, env: NodeJS.ProcessEnv = {}, hosts = ['localhost']) => {
      const cwd = await mkdtemp(join(dir, 'doctor-'));
      await writeFile(join(cwd, 'recorder.yaml'), 'network: mainnet\nupstreams: {}\n');
      const all = { ...env, DATABASE_URL: url(parameters, hosts) };
      const migrated = await startCommand(['migrate'], all, cwd).ended;
      const { stdout } = await startCommand(['doctor', '--json'], all, cwd).ended;
      const found = z.array(z.object({ check: z.string(), ok: z.boolean(), found: z.string() }));
      const of = (one: string) => found.parse(JSON.parse(stdout)).find(({ check }) => check === one);
      return { migrated: migrated.code, database: of('database'), queue: of('queue') };
    };

    it('reports healthy database and queue if the certificate need not be trusted', async () => {
      expect(await doctor('sslmode=require')).toMatchObject({
        migrated: 0,
        database: { ok: true },
        queue: { ok: true },
      });
    });

    it('reports them healthy if the certificate is trusted', async () => {
      expect(await doctor('sslmode=verify-full', { NODE_EXTRA_CA_CERTS: certificate() })).toMatchObject({
        migrated: 0,
        database: { ok: true },
        queue: { ok: true },
      });
    });

    it('reports an untrusted certificate', async () => {
      expect(await doctor('sslmode=verify-full')).toMatchObject({
        database: { ok: false, found: expect.stringContaining('is not trusted by this machine') },
        queue: undefined,
      });
    });

    it.each([[['127.0.0.1']], [['127.0.0.1', '127.0.0.1']]])(
      'compares the address with a certificate of addresses: %s',
      async (hosts) => {
        const address = await installCertificate('IP:127.0.0.1');
        const trusted = { NODE_EXTRA_CA_CERTS: address };
        expect(await doctor('sslmode=verify-full', trusted, hosts)).toMatchObject({
          migrated: 0,
          database: { ok: true },
          queue: { ok: true },
        });
      },
    );
  });
});
