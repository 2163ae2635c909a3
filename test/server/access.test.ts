import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/lib/errors.ts';
import { Access, type AccessOptions } from '../../src/server/access.ts';

const TOKEN = 'a-token-of-some-length';
const NOW = Date.parse('2026-11-22T00:00:00Z');
const DAY = 86_400_000;

const access = (options: Partial<AccessOptions>) =>
  new Access({ host: '127.0.0.1', token: undefined, trustedProxies: [], public: [], ...options });
const admit = (to: Access, path: string, more: Partial<Parameters<Access['admit']>[0]> = {}, now = NOW) =>
  to.admit({ path, address: '10.0.0.7', authorization: undefined, session: undefined, ...more }, now);

describe('the server refuses to listen', () => {
  it.each(['0.0.0.0', '::', '192.168.1.5', 'recorder.example.org', '128.0.0.1'])(
    'on %s if any host could read, and reports the fix',
    (host) => {
      expect(() => access({ host })).toThrow(UsageError);
      expect(() => access({ host })).toThrow(/RECORDER_TOKEN.*server\.trustedProxies.*127\.0\.0\.1/s);
    },
  );

  it.each([
    { host: '127.0.0.1' },
    { host: '127.3.2.1' },
    { host: '::1' },
    { host: 'localhost' },
    { host: '0.0.0.0', token: TOKEN },
    { host: '0.0.0.0', trustedProxies: ['10.0.0.5'] },
  ])('but listens on %o', (options) => {
    expect(() => access(options)).not.toThrow();
  });
});

describe('read access', () => {
  it('is granted to every user on this machine without a token', () => {
    expect(admit(access({}), '/')).toBe('allowed');
  });

  it('requires the token once it is set, also on this machine', () => {
    const guarded = access({ token: TOKEN });
    for (const path of ['/', '/metrics', '/api/status', '/status', '/badge/a.svg', '/healthy', '/assetsx'])
      expect(admit(guarded, path), path).toBe('token');
    expect(admit(guarded, '/', { authorization: `Bearer ${TOKEN}` })).toBe('allowed');
    expect(admit(guarded, '/', { authorization: `bearer  ${TOKEN}` })).toBe('allowed');
    for (const wrong of [
      '',
      TOKEN,
      'Bearer',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
      `Basic ${TOKEN}`,
    ])
      expect(admit(guarded, '/', { authorization: wrong }), wrong).toBe('token');
  });

  it('is granted without a token to health checks of containers, which return no data', () => {
    const guarded = access({ token: TOKEN });
    for (const path of ['/health', '/ready', '/login', '/assets/style-1.css'])
      expect(admit(guarded, path), path).toBe('allowed');
  });

  it('is granted without a token to public pages, and only to them', () => {
    const withPublicStatus = access({ token: TOKEN, public: ['status'] });
    for (const path of ['/status', '/status/validator-1', '/status.json'])
      expect(admit(withPublicStatus, path), path).toBe('allowed');
    for (const path of ['/', '/statusx', '/badge/a.svg', '/api/status', '//status'])
      expect(admit(withPublicStatus, path), path).toBe('token');
  });

  it('is granted to users of a configured proxy, and to no others if there is no token', () => {
    const proxied = access({ host: '0.0.0.0', trustedProxies: ['10.0.0.7', '172.16.0.0/12', 'fd00::/8'] });
    for (const address of ['10.0.0.7', '172.20.1.1', 'fd00::9', '::ffff:10.0.0.7'])
      expect(admit(proxied, '/', { address }), address).toBe('allowed');
    for (const address of ['10.0.0.8', '127.0.0.1', '172.32.0.1', 'fe80::1', undefined])
      expect(admit(proxied, '/', { address }), address).toBe('elsewhere');
  });
});

describe('a session', () => {
  const guarded = access({ token: TOKEN });
  const { value, seconds } = guarded.newSession(NOW);

  it('is open for a limited time, and does not contain the token', () => {
    expect(seconds).toBe((30 * DAY) / 1000);
    expect(value).not.toContain(TOKEN);
    expect(admit(guarded, '/', { session: value }, NOW + 29 * DAY)).toBe('allowed');
    expect(admit(guarded, '/', { session: value }, NOW + 30 * DAY)).toBe('token');
  });

  it('ends when the token changes, and cannot be forged or extended without it', () => {
    expect(admit(access({ token: `${TOKEN}2` }), '/', { session: value })).toBe('token');
    const [until = '', proof = ''] = value.split('.');
    for (const made of [
      '',
      '.',
      until,
      `${Number(until) + DAY}.${proof}`,
      `${until}.`,
      `1e99.${proof}`,
      TOKEN,
    ])
      expect(admit(guarded, '/', { session: made }), made).toBe('token');
  });
});
