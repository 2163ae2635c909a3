import { describe, expect, it } from 'vitest';
import { isOwnName } from '../../src/server/headers.ts';

const names = ['recorder.example.org', '0.0.0.0', '2001:db8::7'];

describe('an allowed host name', () => {
  it.each([
    ['localhost', '10.0.0.7'],
    ['LocalHost:8080', '10.0.0.7'],
    ['localhost.:8080', '10.0.0.7'],
    ['127.0.0.1:8080', '10.0.0.7'],
    ['127.8.9.1', '10.0.0.7'],
    ['[::1]:8080', '10.0.0.7'],
    ['recorder.example.org', '10.0.0.7'],
    ['Recorder.Example.org:443', '10.0.0.7'],
    ['[2001:DB8::7]:8080', '10.0.0.7'],
    ['10.0.0.7:8080', '10.0.0.7'],
    ['10.0.0.7', '::ffff:10.0.0.7'],
    ['[fd00::1]:8080', 'fd00::1'],
    [undefined, '10.0.0.7'],
  ])('is %s, reached at %s', (host, reachedAt) => {
    expect(isOwnName(host, reachedAt, names)).toBe(true);
  });

  it.each([
    ['evil.example', '127.0.0.1'],
    ['localhost.evil.example', '127.0.0.1'],
    ['127.0.0.1.evil.example:8080', '127.0.0.1'],
    ['evil.example/localhost', '127.0.0.1'],
    ['user@localhost', '127.0.0.1'],
    ['10.0.0.8', '10.0.0.7'],
    ['recorder.example.org.evil.example', '10.0.0.7'],
    ['', '10.0.0.7'],
    [':8080', undefined],
    ['undefined', undefined],
  ])('is not %s, reached at %s', (host, reachedAt) => {
    expect(isOwnName(host, reachedAt, names)).toBe(false);
  });
});
