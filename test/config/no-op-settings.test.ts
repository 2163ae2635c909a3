import { expect, it } from 'vitest';
import { catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import type { Scope, UpstreamClient } from '../../src/datasets/contract.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import { problemsOf } from './problems.ts';

const problems = (more: object) =>
  problemsOf(() => validateConfig({ network: 'mainnet', ...more }, catalogNames, 'file'));

const upstreams = { nodes: [{ name: 'one', url: 'http://127.0.0.1:9650' }] };
const window = { from: '2026-01-01', to: '2026-01-02' };

it('refuses maintenance of a node that is not configured, and lists the configured ones', () => {
  const maintenance = [{ ...window, nodes: ['one'] }, { ...window, nodes: ['one', 'tow'] }, window];
  expect(problems({ upstreams, health: { maintenance } })).toEqual([
    'file: health.maintenance[1].nodes[1]: there is no node "tow"; there are one',
  ]);
  expect(problems({ health: { maintenance: [{ at: '02:00', duration: '1h', nodes: ['one'] }] } })).toEqual([
    'file: health.maintenance[0].nodes[0]: there is no node "one"; there are none',
  ]);
});

it.each([
  ['subnets', 'metrics', ['txCount'], 'only metric_points'],
  ['average_tps', 'intervals', ['day'], 'only metric_points'],
  ['validators', 'since', '2026-01-01', 'only the current state'],
  ['p_blocks', 'since', '2026-01-01', 'by height: name a height such as 0'],
  ['metric_points', 'since', 5, 'by time: name a day'],
  ['native_transactions', 'since', 5, 'from the first block on'],
  ['node_identity', 'pageSize', 5, 'no page size'],
])('refuses %s.%s, which would change nothing', (dataset, setting, value, reason) => {
  const [first = '', ...more] = problems({ datasets: { [dataset]: { [setting]: value } } });
  expect(more).toEqual([]);
  expect(first).toContain(`datasets.${dataset}.${setting}: has no effect: `);
  expect(first).toContain(reason);
});

it('accepts overrides that have an effect, and empty ones', () => {
  const datasets = {
    metric_points: { metrics: ['txCount'], intervals: ['day'], since: '2026-01-01', pageSize: 100 },
    subnets: { pageSize: 5, since: null },
    proposed_blocks: { since: '2026-01-01' },
    p_blocks: { since: 0 },
  };
  expect(problems({ datasets })).toEqual([]);
});

it('reports all problems at once, of the form and of the effect', () => {
  const messages = problems({
    network: 'moonnet',
    health: { maintenance: [{ ...window, nodes: ['one'] }] },
    watch: { nodeIds: ['NodeID-1'], assets: ['1'] },
    datasets: { subnets: { metrics: ['txCount'], every: 'soon' } },
  });
  expect(messages.map((one) => one.split(': ')[1]).sort()).toEqual([
    'datasets.subnets.every',
    'datasets.subnets.metrics',
    'health.maintenance[0].nodes[0]',
    'network',
    'watch.assets[0]',
    'watch.nodeIds[0]',
  ]);
});

const chainAddress = { chain: '43114', address: `0x${'1'.repeat(40)}` };
const scope: Scope = {
  network: 'mainnet',
  observer: 'test',
  shares: 1,
  watch: {
    chains: ['43114'],
    nodeIds: ['NodeID-x'],
    subnets: [],
    addresses: ['avax1x'],
    evmAddresses: [chainAddress],
    contracts: [chainAddress],
    collections: [chainAddress],
    transactions: [{ chain: '43114', hash: '0x' }],
    assets: ['x'],
  },
  nodes: ['one'],
  tags: {},
  options: {},
};

it.each([...new Set(recorded.map(({ source }) => source))])(
  '$name declares whether its requests have a page size',
  async (source) => {
    let usesPageSize = false;
    const nothing = () => Promise.reject(new Error('nobody answers'));
    const client: UpstreamClient = {
      get: nothing,
      post: nothing,
      rpc: nothing,
      probe: nothing,
      pageSize: (max) => {
        usesPageSize = true;
        return max;
      },
      now: 0,
    };
    const [target = {}] = source.targets(scope);
    try {
      for await (const _ of source.walk(client, target, source.range ? { from: 0, to: 1000 } : null)) break;
    } catch {}
    expect(usesPageSize).toBe(source.paged ?? false);
  },
);
