import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { loadConfig, validateConfig } from '../../src/config/load.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { problemsOf } from './problems.ts';

const dir = temporaryFolder('config');

function load(text: string) {
  const file = join(dir, 'recorder.yaml');
  writeFileSync(file, text);
  return loadConfig(file, catalogNames);
}

const check = (value: unknown) => problemsOf(() => validateConfig(value, catalogNames, 'test.yaml'));
const node = { name: 'one', url: 'http://127.0.0.1:9650' };

describe('YAML that is valid, but no configuration', () => {
  it.each([
    ['a circular alias', '&all\nnetwork: fuji\nwatch: *all\n', /^circular YAML alias: write the value out/],
    [
      'brackets without an end',
      `network: fuji\nwatch: ${'['.repeat(20_000)}`,
      /^nested too deeply at line 2: no setting has this depth$/,
    ],
    [
      'folds without an end',
      `${Array.from({ length: 3_000 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')}`,
      /^nested too deeply at line \d+: /,
    ],
    [
      'a list as a name',
      'network: fuji\n? [a, b]\n: 1\n',
      /^\["a","b"\]: is a list or a mapping, but the name of a setting must be a string$/,
    ],
  ])('gets an error sentence: %s', (_, text, message) => {
    expect(problemsOf(() => load(text))).toEqual([expect.stringMatching(message)]);
  });
});

describe('a configuration', () => {
  it('needs few settings: all others have defaults', () => {
    expect(load('network: mainnet')).toMatchObject({
      network: 'mainnet',
      upstreams: { nodes: [] },
      watch: { chains: [], nodeIds: [], addresses: [], evmAddresses: [], contracts: [], collections: [] },
      datasets: {},
    });
  });

  it('accepts empty lists in the YAML form', () => {
    expect(load('network: fuji\nupstreams:\n  nodes:\nwatch:\n  chains:\n').watch.chains).toEqual([]);
  });

  it('treats empty sections as unset', () => {
    const bare = validateConfig({ network: 'fuji' }, catalogNames, 'bare');
    const empty = {
      network: 'fuji',
      upstreams: { nodes: null },
      watch: null,
      datasets: { metric_points: null },
    };
    expect(validateConfig(empty, catalogNames, 'empty')).toEqual(bare);
  });

  it('is read completely', () => {
    const config = load(`
network: mainnet
observer: home
upstreams:
  chainData: { url: https://data.example.org, apiKeyHeader: x-data-api-key, timeout: 20s, budget: { perMinute: 8000 } }
  metrics: { url: https://metrics.example.org }
  nodes:
    - { name: validator-1, url: http://127.0.0.1:9650 }
watch:
  chains: ["43114"]
  nodeIds: [NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg]
  evmAddresses: [{ chain: "43114", address: "0x71C7656EC7ab88b098defB751B7401B5f6d8976F" }]
datasets:
  metric_points: { every: 1h, metrics: [txCount], intervals: [hour, day], since: 2025-01-31 }
  node_health: { every: 1m }
  validators: { enabled: false }
`);
    expect(config.upstreams.chainData).toMatchObject({ timeout: 20_000, budget: { perMinute: 8000 } });
    expect(config.datasets.metric_points).toEqual({
      every: 3_600_000,
      metrics: ['txCount'],
      intervals: ['hour', 'day'],
      since: '2025-01-31',
    });
    expect(config.datasets.validators).toEqual({ enabled: false });
  });

  it.each([
    ['a tab', 'network: mainnet\nwatch:\n\tchains: []\n', /line 3, column 1: indent with spaces/],
    ['a setting twice', 'network: mainnet\nnetwork: fuji\n', /line 2, column 1: this setting appears twice/],
    [
      'a part that is not indented as it started',
      'watch:\n   chains: []\n  nodeIds: []\n',
      /line 3, column 1: settings of one section start in the same column/,
    ],
    [
      'two settings in one line',
      'network: mainnet\n  watch: {}\n',
      /line 1, column 10: write one setting per line/,
    ],
    [
      'a quote that never ends',
      'network: "mainnet\nwatch:\n',
      /line 3, column 1: a quote, a bracket or the dash/,
    ],
    ['a text that starts with @', 'network: @mainnet\n', /line 1, column 10: put the text into quotes/],
  ])('with %s gets an error with the line and the fix', (_, text, message) => {
    expect(problemsOf(() => load(text))).toContainEqual(expect.stringMatching(message));
  });

  it.each([
    [{ network: 'mainet' }, 'network: must be one of mainnet, fuji, testnet, sandbox; did you mean mainnet?'],
    [
      { datasets: { metric_points: { metrics: ['txCoutn'] } } },
      'datasets.metric_points.metrics[0]: there is no "txCoutn"; did you mean txCount?',
    ],
    [{ datasets: { validatrs: {} } }, 'datasets.validatrs: no such dataset; did you mean validators?'],
    [
      { retention: { node_helth: '30d' } },
      'retention.node_helth: no such dataset; did you mean node_health?',
    ],
    [
      { alerts: { rules: [{ name: 'node-dwn' }] } },
      'alerts.rules[0].name: there is no default rule "node-dwn", and a custom rule needs sql; did you mean node-down?',
    ],
    [
      { alerts: { channels: [{ name: 'ops', type: 'slak', url: 'http://x' }] } },
      'alerts.channels[0].type: must be one of webhook, slack, discord, telegram, pagerduty, ntfy, alertmanager, email; did you mean slack?',
    ],
    [
      { server: { publicUrl: 'https://x/pages' } },
      'server.publicUrl: must be an http or https URL without a path: pages are at its root',
    ],
    [{ Network: 'mainnet' }, 'Network: no such setting; did you mean network?'],
    [{ upstream: {} }, 'upstream: no such setting; did you mean upstreams?'],
    [{ upstreams: { chain_data: {} } }, 'upstreams.chain_data: no such setting; did you mean chainData?'],
    [
      { upstreams: { metrics: { url: 'http://m', apiHeader: 'x' } } },
      'upstreams.metrics.apiHeader: no such setting; did you mean apiKeyHeader?',
    ],
    [
      { upstreams: { nodes: [{ ...node, tag: [] }] } },
      'upstreams.nodes[0].tag: no such setting; did you mean tags?',
    ],
    [{ watch: { contract: [] } }, 'watch.contract: no such setting; did you mean contracts?'],
    [{ health: { shares: 2 } }, 'health.shares: was renamed to partitions'],
    [
      { health: { maintenance: [{ at: '02:00', lasts: '1h' }] } },
      'health.maintenance[0].lasts: was renamed to duration',
    ],
    [{ alerts: { remind: '1d' } }, 'alerts.remind: was renamed to repeatInterval'],
    [
      { alerts: { rules: [{ name: 'discrepancy', times: 2 }] } },
      'alerts.rules[0].times: was renamed to threshold',
    ],
    [
      { changes: { sinks: [{ name: 'a', type: 'webhook', url: 'http://m', from: 'now' }] } },
      'changes.sinks[0].from: was renamed to startAt',
    ],
    [
      { datasets: { validators: { believe: {} } } },
      'datasets.validators.believe: was renamed to confirmShrink',
    ],
    [
      { datasets: { subnets: { evry: '1h' } } },
      'datasets.subnets.evry: no such setting; did you mean every?',
    ],
    [
      { quite: 'another thing' },
      'quite: no such setting; there are network, name, observer, upstreams, watch, health, runs, changes, retention, server, alerts, exports, datasets',
    ],
  ])('with an unknown setting gets the nearest name: %j', (value, message) => {
    expect(check({ network: 'mainnet', ...value })).toContain(message);
  });

  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['36h', 129_600_000],
    ['7d', 604_800_000],
  ])('counts a duration of %s as %i ms', (every, ms) => {
    expect(load(`network: fuji\ndatasets: { validators: { every: ${every} } }`).datasets.validators).toEqual({
      every: ms,
    });
  });

  it('with six mistakes gets six messages, each with its path', () => {
    const found = problemsOf(() =>
      load(`
network: moonnet
upstreams:
  metrics: { url: "ftp://metrics.example.org" }
  nodes:
    - { name: one, url: "http://127.0.0.1:9650" }
    - { name: one, url: "http://127.0.0.1:9651" }
watch:
  chains: [43114]
datasets:
  node_health: { every: soon }
  no_such_dataset: { every: 1m }
`),
    );
    expect(found.map((one) => one.split(': ')[0]).sort()).toEqual([
      'datasets.no_such_dataset',
      'datasets.node_health.every',
      'network',
      'upstreams.metrics.url',
      'upstreams.nodes[1].name',
      'watch.chains[0]',
    ]);
  });

  it('with mistakes of every kind in alerts and retention gets all messages at once', () => {
    const email = { name: 'mail', type: 'email', host: '', from: 'recorder@example.com', to: [] };
    const channels = [
      { name: 'ops', type: 'webhook', url: 'ftp://x' },
      { name: 'ops', type: 'teams', url: 'https://x' },
      { ...email, port: 99_999 },
      { name: 'heartbeat', type: 'webhook', url: 'https://x', headers: [{ name: 'a', value: 'b\nc' }] },
      { name: 'filled', type: 'webhook', url: 'https://x', body: '{"a": "{{titel}}"}' },
    ];
    const rules = [
      { name: 'node-down', for: 'soon', channels: ['unknown'] },
      { name: 'node-down', severity: 'fatal' },
      { name: 'Ünïcode', sql: ' ' },
      { name: 'disk-full', days: -1, colour: 'red' },
    ];
    const retention = { nodes: '400d', validators: '3d', metric_points: '10d', runs: -4 };
    expect(check({ network: 'mainnet', alerts: { channels, rules }, retention }).toSorted()).toEqual([
      expect.stringMatching(/^alerts\.channels\[0\]\.url: must be an http or https URL/),
      'alerts.channels[1].name: "ops" is taken: names are unique',
      'alerts.channels[1].type: must be one of webhook, slack, discord, telegram, pagerduty, ntfy, alertmanager, email',
      'alerts.channels[2].host: must not be empty',
      'alerts.channels[2].port: must be at most 65535',
      'alerts.channels[2].to: must be at least 1 long',
      'alerts.channels[3].headers[0].value: must be one line without control or invisible characters',
      'alerts.channels[3].name: "heartbeat" is taken: names are unique',
      expect.stringMatching(
        /^alerts\.channels\[4\]\.body: there is no placeholder {{titel}}; use {{kind}}, /,
      ),
      'alerts.rules[0].channels[0]: there is no channel "unknown"; there are ops, ops, mail, heartbeat, filled',
      expect.stringMatching(/^alerts\.rules\[0\]\.for: must be a duration/),
      'alerts.rules[1].name: "node-down" is taken: names are unique',
      'alerts.rules[1].severity: must be one of info, warning, critical',
      'alerts.rules[2].name: must be lower-case letters, digits and dashes',
      'alerts.rules[2].sql: must not be empty',
      expect.stringMatching(/^alerts\.rules\[3\]\.colour: no such setting; there are name, /),
      'alerts.rules[3].days: must be more than 0',
      'retention.metric_points: must be at least 90d',
      expect.stringMatching(/^retention\.nodes: no such dataset; there are metric_points, /),
      expect.stringMatching(/^retention\.runs: must be a text/),
      'retention.validators: must be at least 7d',
    ]);
  });

  it.each([
    [
      'an unknown interval',
      { datasets: { metric_points: { intervals: ['year'] } } },
      'datasets.metric_points.intervals[0]',
      'month',
    ],
    [
      'an interval that is too short',
      { datasets: { node_health: { every: '1s' } } },
      'datasets.node_health.every',
      'at least 5s',
    ],
    [
      'a number for a duration',
      { datasets: { node_health: { every: 60 } } },
      'datasets.node_health.every',
      '',
    ],
    [
      'an address that is none',
      { watch: { evmAddresses: [{ chain: '1', address: '0x12' }] } },
      'watch.evmAddresses[0].address',
      '40',
    ],
    ['a node id that is none', { watch: { nodeIds: ['node'] } }, 'watch.nodeIds[0]', 'NodeID-'],
    ['a subnet id that is none', { watch: { subnets: ['l1'] } }, 'watch.subnets[0]', 'subnet id'],
    ['a chain id that is a number', { watch: { chains: [43114] } }, 'watch.chains[0]', 'quotes'],
    ['no network', { network: undefined }, 'network', ''],
  ])('with %s gets an error with the path and the valid form', (_, mistake, path, hint) => {
    const [first = '', ...more] = check({ network: 'mainnet', ...mistake });
    expect(more).toEqual([]);
    expect(first.startsWith(path), first).toBe(true);
    expect(first).toContain(hint);
  });

  it.each([
    'http://user:canary@example.org',
    'http://user@example.org',
    'http://:canary@example.org',
    'http://example.org/?apiKey=canary',
  ])('with a secret in a URL is refused without repeating the secret: %s', (url) => {
    for (const upstreams of [{ metrics: { url } }, { nodes: [{ ...node, url }] }]) {
      const [first = '', ...more] = check({ network: 'mainnet', upstreams });
      expect(more).toEqual([]);
      expect(first).toContain('environment');
      expect(first).not.toContain('canary');
    }
  });

  it('that is no YAML gets an error with its line', () => {
    expect(problemsOf(() => load('network: [mainnet\nwatch: {'))[0]).toMatch(/line \d/);
  });

  it.each(['- a\n- b', 'text', '42'])('that is no map gets an error: %j', (text) => {
    expect(problemsOf(() => load(text))).toHaveLength(1);
  });

  it('that is empty lacks its network', () => {
    expect(problemsOf(() => load(''))).toEqual([expect.stringContaining('network')]);
  });

  it('that does not exist gets an error', () => {
    const missing = join(dir, 'missing.yaml');
    expect(problemsOf(() => loadConfig(missing, catalogNames))[0]).toContain('missing.yaml');
  });

  it('may share settings by anchors and merge keys', () => {
    const { nodes } = load(
      'network: fuji\nupstreams:\n  nodes:\n    - &one { name: one, url: http://127.0.0.1:9650, timeout: 7s }\n    - { <<: *one, name: two }',
    ).upstreams;
    expect(nodes[1]).toEqual({ ...nodes[0], name: 'two' });
  });

  it('may come from Windows, with a byte order mark and CRLF', () => {
    expect(load('\ufeffnetwork: fuji\r\nwatch:\r\n  chains: ["43114"]\r\n').watch.chains).toEqual(['43114']);
  });

  it.each([
    ['utf16le', 'UTF-8'],
    ['latin1', 'UTF-8'],
  ] as const)('in %s gets an error that names the required encoding', (encoding, requiredEncoding) => {
    const file = join(dir, 'encoded.yaml');
    const mark = encoding === 'utf16le' ? '\ufeff' : '';
    writeFileSync(file, Buffer.from(`${mark}network: fuji # für das Dorf`, encoding));
    expect(problemsOf(() => loadConfig(file, catalogNames))).toEqual([
      expect.stringContaining(requiredEncoding),
    ]);
  });

  it('of several documents gets an error that one is required', () => {
    const [problem, ...more] = problemsOf(() => load('network: fuji\n---\nnetwork: mainnet\n'));
    expect(more).toEqual([]);
    expect(problem).toMatch(/line 2, column 1: .*keep only one/);
    expect(problem).not.toContain('parseAllDocuments');
  });

  it('with an unknown tag is refused, because its text is not the value', () => {
    expect(problemsOf(() => load('network: fuji\nname: !secret recorder\n'))).toEqual([
      expect.stringMatching(/!secret.*line 2.*environment/),
    ]);
  });

  it('that is too large after its aliases are expanded is refused', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((name, at) => {
        const before = 'abcdefghi'[at];
        return `${name}: &${name} [${Array(9).fill(`*${before}`).join(',')}]`;
      }),
    ].join('\n');
    expect(problemsOf(() => load(bomb))).toEqual([expect.stringContaining('write the values out')]);
  });
});
