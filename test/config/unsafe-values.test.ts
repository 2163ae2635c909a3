import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { problemsOf } from './problems.ts';

/** A valid configuration with a text at each of the paths below. */
const valid = () => ({
  network: 'fuji',
  name: 'recorder',
  upstreams: {
    metrics: { url: 'https://metrics.example/base', apiKeyHeader: 'x-key' },
    nodes: [{ name: 'one', url: 'http://127.0.0.1:9650' }],
  },
  watch: {
    chains: ['43113'],
    nodeIds: [],
    evmAddresses: [{ chain: '43113', address: `0x${'ab'.repeat(20)}` }],
  },
  datasets: { metric_points: { metrics: ['txCount'], every: '1h' } },
  alerts: {
    runbook: 'https://wiki.example/recorder',
    channels: [
      { name: 'ops', type: 'webhook', url: 'https://hook.example/', headers: [{ name: 'X-A', value: 'b' }] },
      { name: 'mail', type: 'email', host: 'smtp.example', from: 'a@example.com', to: ['b@example.com'] },
    ],
  },
});

const problems = (value: unknown) => problemsOf(() => validateConfig(value, catalogNames, 'test.yaml'));

interface Place {
  readonly path: string;
  readonly holder: object;
  readonly key: string;
}

/** Returns every text, or every mapping, of a configuration, with its path. */
function places(value: unknown, kind: 'texts' | 'mappings', path = ''): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const isMapping = typeof inner === 'object' && !Array.isArray(inner);
    const matches = kind === 'texts' ? typeof inner === 'string' : isMapping;
    return [...(matches ? [{ path: at, holder: value, key }] : []), ...places(inner, kind, at)];
  });
}
const indices = fc.nat(1_000);
const pick = (all: readonly Place[], at: number): Place => {
  const place = all[at % all.length];
  if (!place) throw new Error('there is no place');
  return place;
};

describe('a configuration', () => {
  it('is valid before the tests below change it', () => {
    expect(problems(valid())).toEqual([]);
  });

  it('is refused with a control character or a line break in any text, with the path and without the text', () => {
    const characters = fc.constantFrom(
      ...'\0\u0007\t\n\r\u001b\u007f\u0085\u00ad\u061c\u200b\u200f\u2028\u202e\u2060\u2066\ufeff\uffff\ud800',
      '\r\nBcc: x@y',
    );
    fc.assert(
      fc.property(indices, characters, fc.nat(20), (at, character, offset) => {
        const config = valid();
        const { path, holder, key } = pick(places(config, 'texts'), at);
        const text = String(Reflect.get(holder, key));
        const cut = offset % (text.length + 1);
        Reflect.set(holder, key, text.slice(0, cut) + character + text.slice(cut));
        expect(problems(config)).toEqual([
          `${path}: must be one line without control or invisible characters`,
        ]);
      }),
    );
  });

  it('is refused with a key of JavaScript objects in any mapping', () => {
    const keys = fc.constantFrom('__proto__', 'constructor', 'prototype');
    fc.assert(
      fc.property(indices, keys, (at, reserved) => {
        const config = valid();
        const { path, holder, key } = pick(places(config, 'mappings'), at);
        Object.defineProperty(Reflect.get(holder, key), reserved, {
          value: { enabled: true },
          enumerable: true,
          configurable: true,
          writable: true,
        });
        expect(problems(config)).toEqual([`${path}.${reserved}: no such setting`]);
      }),
    );
  });

  it.each(['#fragment', ' ', '#'])(
    'is refused with %j at the end of a URL, however the URL is used',
    (end) => {
      for (const path of [
        ...['upstreams.metrics.url', 'upstreams.nodes[0].url', 'alerts.channels[0].url', 'alerts.runbook'],
      ]) {
        const config = valid();
        const place = places(config, 'texts').find((one) => one.path === path);
        if (!place) throw new Error(`there is no ${path}`);
        Reflect.set(place.holder, place.key, `${Reflect.get(place.holder, place.key)}${end}`);
        expect(problems(config)).toEqual([
          expect.stringMatching(/: must (carry no fragment|be an http or https URL)/),
        ]);
      }
    },
  );

  it.each(['upstreams.metrics.url', 'upstreams.nodes[0].url', 'alerts.channels[0].url', 'alerts.runbook'])(
    'is refused with credentials in %s',
    (path) => {
      const config = valid();
      const place = places(config, 'texts').find((one) => one.path === path);
      if (!place) throw new Error(`there is no ${path}`);
      Reflect.set(place.holder, place.key, 'https://user:word@service.example');
      expect(problems(config)).toEqual([
        expect.stringMatching(new RegExp(`^${path.replace(/\W/g, '.')}: must carry no credentials`)),
      ]);
    },
  );

  it('is refused with a header that no client can set, or that is set twice, in any case', () => {
    const names = 'Content-Length,transfer-encoding,CONNECTION,keep-alive,Upgrade,expect'.split(',');
    const { alerts } = valid();
    const withHeaders = (headers: readonly string[]) => ({
      ...valid(),
      alerts: {
        channels: [{ ...alerts.channels[0], headers: headers.map((name) => ({ name, value: '1' })) }],
      },
    });
    for (const name of names)
      expect(problems(withHeaders([name]))).toEqual([
        expect.stringMatching(/^alerts\.channels\[0\]\.headers\[0\]\.name: is set by the connection/),
      ]);
    expect(problems(withHeaders(['X-A', 'x-b', 'x-a']))).toEqual([
      expect.stringMatching(/^alerts\.channels\[0\]\.headers\[2\]\.name: x-a is set twice/),
    ]);
    const apiKeyHeader = { url: 'https://metrics.example', apiKeyHeader: 'Transfer-Encoding' };
    expect(problems({ ...valid(), upstreams: { metrics: apiKeyHeader } })).toEqual([
      expect.stringMatching(/^upstreams\.metrics\.apiKeyHeader: is set by the connection/),
    ]);
  });

  it.each(['smtp example', 'smtp://smtp.example', 'smtp.example:25', 'user@smtp.example', 'smtp.example/'])(
    'is refused with %j as a mail server',
    (host) => {
      const mail = { name: 'mail', type: 'email', host, from: 'a@example.com', to: ['b@example.com'] };
      expect(problems({ ...valid(), alerts: { channels: [mail] } })).toEqual([
        'alerts.channels[0].host: must be a host name or an IP address, without a scheme and a port',
      ]);
    },
  );

  it.each([0, -1, 1.5, 10_001, 1e15, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY, Number.NaN])(
    'is refused with a page of %s items',
    (pageSize) => {
      const found = problems({ ...valid(), datasets: { proposed_blocks: { pageSize } } });
      expect(
        found.some((one) => one.startsWith('datasets.proposed_blocks.pageSize: must be')),
        String(found),
      ).toBe(true);
    },
  );

  it.each([
    ['recorder', false],
    ['@example.com', false],
    ['a@', false],
    ['a@b@c', false],
    ['a@example.com, b@example.com', false],
    ['Recorder <recorder>', false],
    ['Recorder <recorder@example.com', false],
    ['recorder@example.com>', false],
    ['a@example.com', true],
    ['Recorder <recorder@example.com>', true],
    ['Wächter von L1 <l1+alerts@münchen.example>', true],
    ['$'.concat('{MAIL_FROM}'), true],
  ])('accepts %j as an e-mail address: %s', (address, isValid) => {
    const mail = { name: 'mail', type: 'email', host: 'smtp.example', from: address, to: [address] };
    const found = problems({ ...valid(), alerts: { channels: [mail] } });
    expect(found.map((one) => one.split(':')[0])).toEqual(
      isValid ? [] : ['alerts.channels[0].from', 'alerts.channels[0].to[0]'],
    );
  });
});
