import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { formatServerAddress, parseDatabaseUrl } from '../../src/config/database-url.ts';

const placesOf = (url: string) => parseDatabaseUrl(url).places.map(formatServerAddress);

describe('a database URL', () => {
  it('has a server, a user and a database, which may contain characters to escape', () => {
    expect(parseDatabaseUrl('postgres://us%20er:p%40ss%3A%2F%25%23@host:5433/my%2Fdb')).toEqual({
      places: [{ host: 'host', port: 5433 }],
      user: 'us er',
      password: 'p@ss:/%#',
      database: 'my/db',
      sslMode: 'disable',
      direct: false,
      options: '',
    });
  });

  it.each([
    ['postgres://one:5432,[::1]:5433,three/db', ['one:5432', '[::1]:5433', 'three:5432']],
    ['postgres://u:p@[fe80::1%25eth0]/db', ['[fe80::1%eth0]:5432']],
    ['postgres://u:a,b@one/db', ['one:5432']],
    ['postgres://u:p@ss@one/db', ['one:5432']],
    ['postgres:///db?host=/run/postgresql', ['/run/postgresql/.s.PGSQL.5432']],
    ['postgresql://u:p@%2Frun%2Fpostgresql:5433/db', ['/run/postgresql/.s.PGSQL.5433']],
    ['postgres://u@/db?host=/one,two&port=5433', ['/one/.s.PGSQL.5433', 'two:5433']],
    ['postgres://u@none:1/db?host=one,::1&port=5433,5434', ['one:5433', '[::1]:5434']],
    ['postgresql://', ['localhost:5432']],
    [' postgres://u@one/db?sslmode=disable\n', ['one:5432']],
  ])('has the servers of %j', (url, servers) => {
    expect(placesOf(url)).toEqual(servers);
  });

  it("without user or database has those of the current user's name", () => {
    const { username } = userInfo();
    expect(parseDatabaseUrl('postgresql://')).toMatchObject({
      user: username,
      password: '',
      database: username,
    });
    expect(parseDatabaseUrl('postgres://u@host')).toMatchObject({ user: 'u', database: 'u' });
    expect(parseDatabaseUrl('postgres:///?user=u&password=p%26&dbname=d')).toMatchObject({
      user: 'u',
      password: 'p&',
      database: 'd',
    });
  });

  it('has options for encryption and session settings', () => {
    expect(
      parseDatabaseUrl(
        'postgres://u@one,two/db?sslmode=require&options=-c%20work_mem%3D7MB&sslnegotiation=direct&connect_timeout=3',
      ),
    ).toMatchObject({ sslMode: 'require', direct: true, options: '-c work_mem=7MB' });
  });

  it.each([
    ['sslmode=disable', 'disable'],
    ['ssl=false', 'disable'],
    ['sslmode=require', 'require'],
    ['sslmode=no-verify', 'require'],
    ['ssl=no-verify', 'require'],
    ['sslmode=verify-ca', 'verify-full'],
    ['sslmode=verify-full', 'verify-full'],
    ['ssl=true', 'verify-full'],
    ['ssl=true&sslmode=require', 'require'],
    ['sslmode=verify-full&host=/run', 'disable'],
  ])('encrypts by %s as by %s', (parameters, sslMode) => {
    expect(parseDatabaseUrl(`postgres://one/db?${parameters}`)).toMatchObject({ sslMode });
  });

  it.each([
    ['sslmode=prefer', /^sslmode=prefer lets the server decide .*: use require \(encrypts without/],
    ['sslmode=allow', /^sslmode=allow lets the server decide/],
    ['sslmode=canary', /^there is no such sslmode: use require/],
    ['ssl=constructor', /^there is no such ssl: use/],
    ['sslmode=', /^there is no such sslmode/],
    ['sslmode=verify-full&sslrootcert=/ca.pem', /^sslrootcert cannot be used: .*NODE_EXTRA_CA_CERTS=/],
    ['sslmode=require&sslcert=/a.crt&sslkey=/a.key', /^sslcert cannot be used: .* a password$/],
    ['sslnegotiation=direct', /^sslnegotiation=direct requires sslmode=require/],
    ['sslmode=require&host=/run,two', /^connections to sockets are not encrypted/],
    ['channel_binding=require', /^channel_binding=require cannot be used: sslmode=verify-full/],
    [
      'schema=public',
      /^the parameter "schema" is not supported: remove it \(.* options=-c%20NAME%3DVALUE\)$/,
    ],
    ['host=a,b,c&port=1,2', /^there are 3 hosts and 2 ports/],
    ['port=65536', /^a port is a number from 1 to 65535$/],
  ])('is refused with a sentence for %s', (parameters, message) => {
    expect(() => parseDatabaseUrl(`postgres://one/db?${parameters}`)).toThrow(message);
  });

  it.each([
    'postgres://u:canary#canary@host/db',
    'postgres://u:canary/canary@host/db',
    'postgres://u:canary?canary@host/db',
    'postgres://u:12?canary&x@host/db',
    'postgres://u:canary%@host/db',
    'postgres://u@host/db?port=canary',
    'postgres://::1/db',
    'postgres://u@,two/db',
    'mysql://one/db',
  ])('that is invalid is refused, and no part of it is repeated: %s', (url) => {
    let message = '';
    try {
      parseDatabaseUrl(url);
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/Error/);
    expect(message).not.toMatch(/canary|::1|two/);
  });
});
