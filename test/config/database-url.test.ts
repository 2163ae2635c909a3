import { describe, expect, it } from 'vitest';
import { databasePlace, serverUrls } from '../../src/config/database-url.ts';

describe('the servers of a database URL', () => {
  it('are each a URL with everything else that is said, in their order', () => {
    expect(serverUrls('postgres://user:p%40ss@one:5432,[::1]:5433,three/db?sslmode=require')).toEqual([
      'postgres://user:p%40ss@one:5432/db?sslmode=require',
      'postgres://user:p%40ss@[::1]:5433/db?sslmode=require',
      'postgres://user:p%40ss@three/db?sslmode=require',
    ]);
  });

  it('are the URL itself where it names one, whatever it looks like', () => {
    for (const url of [
      'postgres://one/db?a=1,2',
      'postgres://user:a,b@one/db',
      'postgres:///db?host=/tmp',
      'none',
    ])
      expect(serverUrls(url)).toEqual([url]);
  });

  it('are told apart by the recorder, not by what libpq calls target_session_attrs', () => {
    expect(serverUrls('postgres://one,two/db?target_session_attrs=read-write&sslmode=require')).toEqual([
      'postgres://one/db?sslmode=require',
      'postgres://two/db?sslmode=require',
    ]);
  });
});

describe('how a database URL wants its connections', () => {
  it('is told beside the URLs, which have no parameter left that drivers read in different ways', () => {
    const url =
      'postgres://u@one,two/db?sslmode=require&options=-c%20work_mem%3D7MB&sslnegotiation=direct&connect_timeout=3';
    expect(databasePlace(url)).toEqual({
      urls: ['postgres://u@one/db?connect_timeout=3', 'postgres://u@two/db?connect_timeout=3'],
      sslMode: 'require',
      direct: true,
      options: '-c work_mem=7MB',
    });
  });

  it('leaves a URL as it is that says nothing of it', () => {
    for (const url of ['postgres://one/db?a=1,2', 'postgres:///db?host=/tmp'])
      expect(databasePlace(url)).toEqual({ urls: [url], sslMode: 'disable', direct: false, options: '' });
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
  ])('encrypts by %s as by %s', (parameters, sslMode) => {
    expect(databasePlace(`postgres://one/db?${parameters}`)).toMatchObject({ sslMode });
  });

  it.each([
    ['sslmode=prefer', /^sslmode=prefer leaves it to the server .*: write require \(encrypts without/],
    ['sslmode=allow', /^sslmode=allow leaves/],
    ['sslmode=canary', /^there is no such sslmode: write require/],
    ['ssl=constructor', /^there is no such ssl: write/],
    ['sslmode=', /^there is no such sslmode/],
    ['sslmode=verify-full&sslrootcert=/ca.pem', /^sslrootcert cannot be used: .*NODE_EXTRA_CA_CERTS=/],
    ['sslmode=require&sslcert=/a.crt&sslkey=/a.key', /^sslcert cannot be used: .* a password$/],
    ['sslnegotiation=direct', /^sslnegotiation=direct wants sslmode=require/],
  ])('refuses %s in words', (parameters, words) => {
    expect(() => databasePlace(`postgres://one/db?${parameters}`)).toThrow(words);
  });
});
