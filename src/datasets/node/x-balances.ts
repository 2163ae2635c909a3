import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { Page, Source, UpstreamClient } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { object, optional, text, uint } from '../fields.ts';
import { getList, getMember } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { singleResponsePage } from '../sources/one-answer.ts';
import { OptionalMethods } from '../sources/optional-methods.ts';
import { addressesOn } from '../sources/primary-addresses.ts';
import { utxoReferences } from './utxo-references.ts';

const X = '/ext/bc/X';
const ALL = 'avm.getAllBalances';
const ONE = 'avm.getBalance';

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
  walk: (ask, { address = '', assets = '' }) => balances(ask, address, assets.split(',').filter(Boolean)),
};

async function* balances(
  ask: UpstreamClient,
  address: string,
  assets: readonly string[],
): AsyncGenerator<Page> {
  const offered = new OptionalMethods(ask);
  // Duplicate assets are kept, so that a contradiction is recorded.
  let rows: object[] = [];
  const all = await offered.rpc(X, ALL, { address });
  for (const held of all === undefined ? [] : getList(all, 'balances', 'total')) {
    const asset = getMember(held, 'asset');
    const assetID = await resolveAssetId(ask, asset);
    rows.push(Object.assign({}, held, { assetID }));
  }
  for (const assetID of assets) {
    const held = await offered.rpc(X, ONE, { address, assetID });
    if (held === undefined) continue;
    if (rows.every((row) => getMember(row, 'assetID') !== assetID)) rows.push({ assetID });
    rows = rows.map((row) =>
      getMember(row, 'assetID') === assetID ? Object.assign({}, row, held, { assetID }) : row,
    );
  }
  offered.requireAny([ALL, ONE]);
  // Without the list of all assets, assets that are not watched may exist.
  yield { ...singleResponsePage({ balances: rows }, offered.refused), whole: all !== undefined };
}

const ID = /^[1-9A-HJ-NP-Za-km-z]{40,}$/;

/**
 * Returns the id of an asset for which the node uses an alias, such as the native one. Returns the alias
 * itself if the id is not found.
 */
async function resolveAssetId(ask: UpstreamClient, asset: unknown): Promise<unknown> {
  if (typeof asset !== 'string' || ID.test(asset)) return asset;
  try {
    const description = await ask.rpc(X, 'avm.getAssetDescription', { assetID: asset });
    return getMember(description, 'assetID') ?? asset;
  } catch (error) {
    if (error instanceof UpstreamFailure && (error.kind === 'unsupported' || error.kind === 'rpc'))
      return asset;
    throw error;
  }
}

export const xBalances = defineDataset({
  name: 'x_balances',
  about: 'What a watched address holds on the X-chain, by asset; of watched assets with the outputs.',
  operations: [ALL, ONE],
  history: 'state',
  source,
  request: ['node', 'address'],
  key: ['node', 'address', 'asset_id'],
  items: (body) => getList(body, 'balances'),
  item: object({
    assetID: text('Id of the asset, also where the node calls it by an alias.'),
    asset: optional(text('What the node calls the asset, such as AVAX.')),
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
