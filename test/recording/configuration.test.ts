import { afterEach, describe, expect, it } from 'vitest';
import { activeFeeds, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { createConfiguration } from '../../src/recording/configuration.ts';

const nodes = [{ name: 'one', url: 'http://127.0.0.1:9650' }];
const digestOf = (overrides: object) => {
  const config = validateConfig(
    { network: 'mainnet', upstreams: { nodes }, ...overrides },
    catalogNames,
    'test',
  );
  return createConfiguration(config, activeFeeds(config)).digest;
};
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
const secretUrl = 'https://hooks.example/${HOOK_SECRET}';
const channel = { name: 'ops', type: 'webhook', url: secretUrl };
const sink = { name: 'lake', type: 'webhook', url: secretUrl };

describe('the digest of a configuration', () => {
  afterEach(() => {
    delete process.env.HOOK_SECRET;
  });

  it.each([
    ['what is recorded', { datasets: { peers: { every: '7m' } } }],
    ['exports', { exports: [{ to: 's3://lake/recorder' }] }],
    ['the channels of alerts', { alerts: { channels: [channel] } }],
    ['a rule of alerts', { alerts: { rules: [{ name: 'node-down', enabled: false }] } }],
    ['the sinks of changes', { changes: { sinks: [sink] } }],
    ['how long changes are kept', { changes: { keep: '30d' } }],
    ['how long what is recorded is kept', { retention: { peers: '400d' } }],
    ['how long runs are kept', { runs: { keep: '60d' } }],
    ['which uptime is rewarded', { health: { rewards: { minUptime: 85 } } }],
  ])('changes with another value of %s', (_, overrides) => {
    expect(digestOf(overrides)).not.toBe(digestOf({}));
  });

  it('changes with another limit of a service', () => {
    const service = { url: 'http://127.0.0.1:8000' };
    const digest = digestOf({ upstreams: { nodes, chainData: service } });
    for (const budget of [{ perDay: 1_000 }, { perMinute: 10 }])
      expect(digestOf({ upstreams: { nodes, chainData: { ...service, budget } } })).not.toBe(digest);
    const movedService = { ...service, url: 'http://10.0.0.1:8000' };
    expect(digestOf({ upstreams: { nodes, chainData: movedService } })).toBe(digest);
  });

  it('is the same for any format of the file and any value of a secret', () => {
    const outputs = { alerts: { channels: [channel] }, changes: { sinks: [sink] } };
    const digest = digestOf({ ...outputs, retention: { runs: '30d', peers: '400d' } });
    process.env.HOOK_SECRET = 'not to be seen in the database';
    expect(digestOf({ retention: { peers: '400d', runs: '30d' }, ...outputs })).toBe(digest);
    expect(digestOf({ alerts: { every: '30s' }, changes: { keep: '7d' }, retention: {} })).toBe(digestOf({}));
  });

  it('does not depend on the URL of a node', () => {
    const nodes = [{ name: 'one', url: 'http://10.0.0.1:9650' }];
    expect(digestOf({ upstreams: { nodes } })).toBe(digestOf({}));
  });
});
