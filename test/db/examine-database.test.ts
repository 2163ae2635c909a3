import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort } from '../../src/db/embedded/free-port.ts';
import { checkDatabase } from '../../src/db/examine-database.ts';
import { emptyDatabase, type TestDatabase } from '../support/database.ts';
import { rawServer } from '../support/upstream-server.ts';

const PASSWORD = 'canary-of-the-database';
let database: TestDatabase;
let admin: postgres.Sql;
let user: string;

beforeAll(async () => {
  database = await emptyDatabase();
  admin = postgres(inject('databaseUrl'), { max: 1, onnotice: () => {} });
  user = `${new URL(database.url).pathname.slice(1)}_user`;
  await admin.unsafe(`create role ${user} login password '${PASSWORD}'`);
});
afterAll(async () => {
  await database.close();
  await admin.unsafe(`drop role ${user}`);
  await admin.end();
});

/** The database's URL with some parts changed. */
function url(change: (url: URL) => void): string {
  const changed = new URL(database.url);
  change(changed);
  return changed.href;
}
const asUser = (one: URL) => {
  one.username = user;
  one.password = PASSWORD;
};

describe('a database', () => {
  it('that accepts the recorder is healthy', async () => {
    expect(await checkDatabase(database.url)).toMatchObject({
      ok: true,
      found: expect.stringMatching(/^PostgreSQL \d+/),
    });
  });

  it('whose sessions have another time zone than UTC is healthy, with a note of the zone', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const findProblems = async () => (await checkDatabase(database.url)).found;
    await admin.unsafe(`alter role ${user} in database "${name}" set timezone to 'America/St_Johns'`);
    expect(await findProblems()).toContain(
      `sessions of the role ${user} have the time zone America/St_Johns`,
    );
    await admin.unsafe(`alter role ${user} in database "${name}" reset timezone`);
    await admin.unsafe(`alter database "${name}" set timezone to 'Asia/Kathmandu'`);
    expect(await findProblems()).toContain('sessions of this database have the time zone Asia/Kathmandu');
    await admin.unsafe(`alter database "${name}" set timezone to 'UTC'`);
    expect(await findProblems()).not.toContain('time zone');
    await admin.unsafe(`alter database "${name}" reset timezone`);
    const elsewhere = new URL(database.url);
    elsewhere.searchParams.set('options', '-c TimeZone=Europe/Zurich');
    expect((await checkDatabase(elsewhere.href)).found).toContain(
      'sessions of this server have the time zone Europe/Zurich',
    );
  });

  it.each([
    [
      'with a wrong password',
      (one: URL) => Object.assign(one, { password: PASSWORD }),
      /refuses the password of the user/,
      /alter role/,
    ],
    [
      'that is missing',
      (one: URL) => Object.assign(one, { pathname: '/no_such_database' }),
      /has no database "no_such_database"/,
      /^create it: createdb --host=127\.0\.0\.1 --port=\d+ .*no_such_database$/,
    ],
    [
      'where the user may not create tables',
      asUser,
      /has no permission to create tables/,
      /^as a superuser: grant create on database/,
    ],
    [
      'of a host that does not exist',
      (one: URL) => Object.assign(one, { hostname: 'no-such-host.invalid' }),
      /the host name no-such-host.invalid cannot be resolved/,
      /correct the host/,
    ],
  ] as const)('%s', async (_, change, found, fix) => {
    const checked = await checkDatabase(url(change));
    expect(checked).toMatchObject({
      ok: false,
      found: expect.stringMatching(found),
      fix: expect.stringMatching(fix),
    });
    expect(JSON.stringify(checked)).not.toContain(PASSWORD);
  });

  it('whose record belongs to another user', async () => {
    const sql = postgres(database.url, { max: 1 });
    await sql`create schema recorder`;
    expect(await checkDatabase(url(asUser))).toMatchObject({
      ok: false,
      found: expect.stringMatching(/^the record in the database ".*" belongs to "recorder", and the user/),
      fix: expect.stringContaining('as a superuser: grant "recorder" to'),
    });
    await sql`drop schema recorder`;
    await sql.end();
  });

  it('with no free connections for this user', async () => {
    await admin.unsafe(`alter role ${user} connection limit 0`);
    expect(await checkDatabase(url(asUser))).toMatchObject({
      ok: false,
      found: expect.stringMatching(/accepts no more connections: too many connections for role/),
      fix: expect.stringContaining(`alter role "${user}" connection limit -1`),
    });
    await admin.unsafe(`alter role ${user} connection limit -1`);
  });

  it('at whose port nothing listens', async () => {
    const port = String(await findFreePort());
    expect(await checkDatabase(url((one) => Object.assign(one, { port })))).toMatchObject({
      ok: false,
      found: `nothing listens on 127.0.0.1:${port}`,
      fix: expect.stringContaining('start PostgreSQL'),
    });
  });

  it('at whose port another program responds', async () => {
    const other = await rawServer((socket) => socket.end());
    expect(
      await checkDatabase(url((one) => Object.assign(one, { port: new URL(other.url).port }))),
    ).toMatchObject({
      ok: false,
      found: expect.stringContaining('closed the connection without an answer'),
    });
    await other.close();
  });

  it('that accepts the connection and never responds', async () => {
    // AuthenticationOk and ReadyForQuery.
    const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
    let welcomed = false;
    const silent = await rawServer((socket) => {
      if (!welcomed) socket.write(welcome);
      welcomed = true;
    });
    expect(
      await checkDatabase(url((one) => Object.assign(one, { port: new URL(silent.url).port }))),
    ).toMatchObject({ ok: false, found: expect.stringContaining('does not respond as PostgreSQL') });
    await silent.close();
  });

  it('that does not offer TLS though the URL requires it', async () => {
    expect(
      await checkDatabase(url((one) => Object.assign(one, { search: 'sslmode=require' }))),
    ).toMatchObject({
      ok: false,
      found: expect.stringMatching(/does not offer TLS$/),
      fix: expect.stringContaining('ssl = on'),
    });
  });

  it('that is not UTF-8 gets the commands to create another one', async () => {
    const name = `${user}_latin`;
    await admin.unsafe(`create database ${name} template template0 encoding 'LATIN1' locale 'C'`);
    const checked = await checkDatabase(url((one) => Object.assign(one, { pathname: `/${name}` })));
    expect(checked).toMatchObject({
      ok: false,
      found: expect.stringContaining('is encoded in LATIN1'),
      fix: expect.stringMatching(/^create another database with "createdb/),
    });
    await admin.unsafe(`drop database ${name}`);
  });
});
