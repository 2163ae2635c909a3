import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { libpqVariables } from '../../src/db/libpq.ts';

beforeEach(() => {
  vi.stubEnv('NODE_EXTRA_CA_CERTS', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
});

it('programs of PostgreSQL are told of a database as the drivers are', async () => {
  expect(await libpqVariables('postgres://u%40b:p%2Fw@[::1]:5433/my%20db?sslmode=verify-full')).toEqual({
    PGHOST: '::1',
    PGPORT: '5433',
    PGUSER: 'u@b',
    PGPASSWORD: 'p/w',
    PGDATABASE: 'my db',
    PGSSLMODE: 'verify-full',
  });
});

it.each([
  ['', 'disable'],
  ['?sslmode=require', 'require'],
  ['?sslmode=no-verify', 'require'],
  ['?ssl=false', 'disable'],
  ['?ssl=0', 'disable'],
  ['?ssl=true', 'require'],
])('they encrypt by "%s" as by %s', async (parameters, PGSSLMODE) => {
  expect(await libpqVariables(`postgres://u@host/db${parameters}`)).toMatchObject({ PGSSLMODE });
});
