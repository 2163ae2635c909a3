import { expect, it } from 'vitest';
import { diffConfigs } from '../../src/daemon/reload.ts';

it.each<[string, unknown, unknown, string[]]>([
  ['nothing', { a: [1], b: { c: 'x' } }, { b: { c: 'x' }, a: [1] }, []],
  ['a value', { runs: { keep: 7 } }, { runs: { keep: 8 } }, ['runs.keep: 7 → 8']],
  ['a removed value', { observer: 'eyes' }, {}, ['observer: taken out eyes']],
  ['a value that is new', { a: {} }, { a: { every: 5 } }, ['a.every: added 5']],
  [
    'elements of a list',
    { watch: { chains: ['1', '2'] } },
    { watch: { chains: ['2', '3'] } },
    ['watch.chains: without 1', 'watch.chains: with 3'],
  ],
  ['the order', { a: ['1', '2'] }, { a: ['2', '1'] }, ['a: in another order']],
  [
    'elements with names',
    {
      nodes: [
        { name: 'a', timeout: 1 },
        { name: 'b', timeout: 1 },
      ],
    },
    {
      nodes: [
        { name: 'b', timeout: 2 },
        { name: 'c', timeout: 1 },
      ],
    },
    [
      'nodes[a]: taken out {"name":"a","timeout":1}',
      'nodes[b].timeout: 1 → 2',
      'nodes[c]: added {"name":"c","timeout":1}',
    ],
  ],
  [
    'the order of elements with names',
    { nodes: [{ name: 'a' }, { name: 'b' }] },
    { nodes: [{ name: 'b' }, { name: 'a' }] },
    ['nodes: in another order'],
  ],
  [
    'sets',
    { windows: [{ days: new Set([1]), at: 0 }] },
    { windows: [{ days: new Set([2, 3]), at: 0 }] },
    ['windows: without {"days":[1],"at":0}', 'windows: with {"days":[2,3],"at":0}'],
  ],
  [
    'what may be secret',
    { alerts: { channels: [{ name: 'ops', to: 'hunter2' }] }, x: { url: 'a' }, y: 'https://u:p@h/' },
    { alerts: { channels: [{ name: 'ops', to: 'hunter3' }] }, x: { url: 'b' }, y: 'z' },
    ['alerts.channels[ops].to: changed', 'x.url: changed', 'y: changed'],
  ],
])('lists %s', (_, before, after, changes) => {
  expect(diffConfigs(before, after)).toEqual(changes);
});
