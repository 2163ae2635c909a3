import { defineDataset } from '../dataset.ts';
import { count, object, optional, text } from '../fields.ts';
import { day } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';

/** Name, symbol and denomination of an asset of the X-chain (avm.getAssetDescription). */
const source = nodeMethod({
  name: 'x-assets',
  path: '/ext/bc/X',
  method: 'avm.getAssetDescription',
  every: day,
  about: ({ watch }) => watch.assets.map((assetId) => ({ assetId })),
  params: ({ assetId }) => ({ assetID: assetId }),
});

export const xAssets = defineDataset({
  name: 'x_assets',
  about: 'Watched assets of the X-chain: name, symbol, denomination.',
  operations: ['avm.getAssetDescription'],
  history: 'state',
  source,
  request: ['node', 'assetId'],
  key: ['node', 'asset_id'],
  items: (body) => [body],
  states: { assetId: ['assetID'] },
  ignore: ['assetID'], // the requested asset
  item: object({
    name: optional(text()),
    symbol: text(),
    denomination: optional(count('Number of decimal places of displayed amounts.')),
  }),
  example: {
    assetID: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
    name: 'Avalanche',
    symbol: 'AVAX',
    denomination: '9',
  },
});

export const { table: xAssetsTable } = xAssets;
