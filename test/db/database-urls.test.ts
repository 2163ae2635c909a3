import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type ListenOptions } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { Closers } from '../../chaos/closers.ts';
import { isDatabaseUnavailable } from '../../src/db/connection-error.ts';
import { DATABASE_CONNECTIONS } from '../support/database-connections.ts';

const closers = new Closers();
const suffix = randomBytes(4).toString('hex');
/** Characters that are escaped in a URL. */
const USER = `us er@${suffix}`;
const PASSWORD = 'p@:/%#? &+[]\'"\\ä';
const DATABASE = `da/ta%b a?se#${suffix}`;
const login = `${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}`;
const database = encodeURIComponent(DATABASE);
let port: number;
let six: number;
let folder: string;

/** Forwards connections to the server. */
async function forward(options: ListenOptions): Promise<number> {
  const server = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on('error', () => other.destroy()).pipe(other);
  }).listen(options);
  await once(server, 'listening');
  closers.add(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

beforeAll(async () => {
  const admin = postgres(inject('databaseUrl'), { max: 1 });
  port = Number(new URL(inject('databaseUrl')).port);
  closers.add(async () => {
    await admin`drop database if exists ${admin(DATABASE)} with (force)`;
    await admin`drop role if exists ${admin(USER)}`;
    await admin.end();
  });
  await admin.unsafe(`create role "${USER}" login password '${PASSWORD.replaceAll("'", "''")}'`);
  await admin`create database ${admin(DATABASE)} owner ${admin(USER)} template template0 encoding 'UTF8'`;
  folder = await mkdtemp(join(tmpdir(), 'recorder-urls-'));
  closers.add(() => rm(folder, { recursive: true }));
  six = await forward({ host: '::1', port: 0 });
  await forward({ path: join(folder, '.s.PGSQL.5432') });
  await forward({ path: join(folder, '.s.PGSQL.5499') });
});
afterAll(() => closers.close());
afterEach(() => {
  vi.unstubAllEnvs();
});

it.each(DATABASE_CONNECTIONS)(
  '%s: a missing socket is reported as an unavailable server',
  async (_, readSession) => {
    const error = await readSession(`postgres://${login}@:1/${database}?host=${folder}`).catch(
      (failure) => failure,
    );
    expect(isDatabaseUnavailable(error), String(error)).toBe(true);
  },
);

describe.each(DATABASE_CONNECTIONS)('%s', (_, readSession) => {
  const arrived = {
    user: USER,
    database: DATABASE,
    encoding: 'UTF8',
    name: expect.stringMatching(/^chain-recorder/),
  };

  it.each<readonly [string, () => string]>([
    ['an address', () => `postgres://${login}@127.0.0.1:${port}/${database}`],
    ['an address of IPv6', () => `postgres://${login}@[::1]:${six}/${database}`],
    ['several addresses', () => `postgres://${login}@[::1]:1,[::1]:${six},127.0.0.1:1/${database}`],
    ['the folder of a socket as a parameter', () => `postgresql://${login}@/${database}?host=${folder}`],
    [
      'that and a host that does not count',
      () => `postgres://${login}@none.invalid/${database}?host=${folder}`,
    ],
    [
      'a folder, and a port',
      () => `postgres://${login}@:5499/${database}?host=${encodeURIComponent(folder)}`,
    ],
    [
      'a folder in the place of the host',
      () => `postgres://${login}@${encodeURIComponent(folder)}/${database}`,
    ],
    [
      'a folder and a host',
      () => `postgres://${login}@${encodeURIComponent(folder)}:1,127.0.0.1:${port}/${database}`,
    ],
    [
      'several parts as parameters',
      () =>
        `postgres:///?host=127.0.0.1,::1&port=1,${six}&user=${encodeURIComponent(USER)}&password=${encodeURIComponent(PASSWORD)}&dbname=${database}`,
    ],
    [
      'an unencrypted socket, whatever sslmode says',
      () => `postgres://${login}@/${database}?host=${folder}&sslmode=require`,
    ],
    [
      'parameters of libpq that the recorder sets itself',
      () =>
        `postgres://${login}@127.0.0.1:${port}/${database}?application_name=mine&connect_timeout=3&keepalives=1&keepalives_idle=9&client_encoding=LATIN1&target_session_attrs=read-write&gssencmode=disable&channel_binding=prefer`,
    ],
  ])('connects with %s', async (_, url) => {
    expect(await readSession(url())).toMatchObject(arrived);
  });

  it('applies the session settings of the URL', async () => {
    const options = encodeURIComponent('-c work_mem=7MB');
    expect(
      await readSession(`postgres://${login}@127.0.0.1:${port}/${database}?options=${options}`),
    ).toMatchObject({
      ...arrived,
      work_mem: '7MB',
    });
  });

  it('reads the URL and no variable of libpq', async () => {
    for (const [name, value] of Object.entries({
      PGAPPNAME: 'somebody',
      PGCLIENT_ENCODING: 'LATIN1',
      PGOPTIONS: '-c work_mem=9MB',
      PGSSLMODE: 'require',
      PGSSLNEGOTIATION: 'direct',
      PGHOST: 'none.invalid',
      PGPORT: '1',
      PGUSER: 'nobody',
      PGPASSWORD: 'wrong',
      PGDATABASE: 'none',
    }))
      vi.stubEnv(name, value);
    expect(await readSession(`postgres://${login}@127.0.0.1:${port}/${database}`)).toMatchObject(arrived);
  });
});
