import { describe, expect, it } from 'vitest';
import { serverUrls } from '../../src/config/database-url.ts';

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
