import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Source, SourcePage, UpstreamClient } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { object, optional, text, uint } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { OptionalMethods } from '../sources/optional-methods.ts';
import { addressesOn } from '../sources/primary-addresses.ts';
import { singleResponsePage } from '../sources/single-response.ts';
import { utxoReferences } from './utxo-references.ts';

const X = '/ext/bc/X';
const ALL_ASSETS_METHOD = 'avm.getAllBalances';
const SINGLE_ASSET_METHOD = 'avm.getBalance';

/**
 * Balances of an address on the X-chain (both methods deprecated): all assets, and the
 * outputs of watched assets. The target contains the watched assets, because they determine the requests.
 */
const source: Source = {
  name: 'x-balances',
  upstream: 'nodes',
  every: 10 * minute,
  weight: 0,
  calls: 2,
  targets: ({ nodes, watch }) =>
    nodes.flatMap((node) =>
      addressesOn('X', watch.addresses).map((address) => ({
        node,
        address,
        ...(watch.assets.length > 0 ? { assets: watch.assets.toSorted().join(',') } : {}),
      })),
    ),
  walk: (client, { address = '', assets = '' }) =>
    balances(client, address, assets.split(',').filter(Boolean)),
};

async function* balances(
  client: UpstreamClient,
  address: string,
  assets: readonly string[],
): AsyncGenerator<SourcePage> {
  const offered = new OptionalMethods(client);
  // Duplicate assets are kept, so that a contradiction is recorded.
  let rows: object[] = [];
  const all = await offered.rpc(X, ALL_ASSETS_METHOD, { address });
  for (const balance of all === undefined ? [] : getList(all, 'balances', 'total')) {
    const asset = getMember(balance, 'asset');
    const assetID = await resolveAssetId(client, asset);
    rows.push(Object.assign({}, balance, { assetID }));
  }
  for (const assetID of assets) {
    const balance = await offered.rpc(X, SINGLE_ASSET_METHOD, { address, assetID });
    if (balance === undefined) continue;
    if (rows.every((row) => getMember(row, 'assetID') !== assetID)) rows.push({ assetID });
    rows = rows.map((row) =>
      getMember(row, 'assetID') === assetID ? Object.assign({}, row, balance, { assetID }) : row,
    );
  }
  offered.requireAny([ALL_ASSETS_METHOD, SINGLE_ASSET_METHOD]);
  // Without the list of all assets, assets that are not watched may exist.
  yield { ...singleResponsePage({ balances: rows }, offered.refused), whole: all !== undefined };
}

const ID = /^[1-9A-HJ-NP-Za-km-z]{40,}$/;

/**
 * Returns the id of an asset for which the node uses an alias, such as the native asset. Returns the alias
 * itself if the id is not found.
 */
async function resolveAssetId(client: UpstreamClient, asset: unknown): Promise<unknown> {
  if (typeof asset !== 'string' || ID.test(asset)) return asset;
  try {
    const description = await client.rpc(X, 'avm.getAssetDescription', { assetID: asset });
    return getMember(description, 'assetID') ?? asset;
  } catch (error) {
    if (error instanceof UpstreamFailure && (error.kind === 'unsupported' || error.kind === 'rpc'))
      return asset;
    throw error;
  }
}

export const xBalances = defineDataset({
  name: 'x_balances',
  about: 'Balances of a watched address on the X-chain, by asset; for watched assets also the outputs.',
  operations: [ALL_ASSETS_METHOD, SINGLE_ASSET_METHOD],
  history: 'state',
  source,
  request: ['node', 'address'],
  key: ['node', 'address', 'asset_id'],
  items: (body) => getList(body, 'balances'),
  item: object({
    assetID: text('Id of the asset, even if the response has an alias.'),
    asset: optional(text('Name of the asset in the response, such as AVAX.')),
    balance: uint("In the asset's smallest unit."),
    utxoIDs: utxoReferences('The outputs that make up the balance; null: the asset is not watched.'),
  }),
  example: {
    assetID: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
    asset: 'AVAX',
    balance: '299999999999900',
    utxoIDs: [{ txID: 'WPQdyLNqHfiEKp4zcCpayRHYDVYuh1hqs9c1RqgZXS4VPgdvo', outputIndex: 1 }],
  },
});

export const { table: xBalancesTable } = xBalances;
