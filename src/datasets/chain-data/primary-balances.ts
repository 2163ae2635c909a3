import type { Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { count, object, optional, text, uint } from '../fields.ts';
import { getEntries, getObject } from '../sources/answer.ts';
import { hour } from '../sources/durations.ts';
import { addressesOn } from '../sources/primary-addresses.ts';
import { walkSingleResponse } from '../sources/single-response.ts';

const CHAINS = { P: 'p-chain', X: 'x-chain', C: 'c-chain' } as const;

/**
 * Balance of an address on a chain of the primary network. On the C-chain, the balance contains only exported
 * assets.
 */
const source: Source = {
  name: 'primary-balances',
  upstream: 'chainData',
  every: hour,
  weight: 100,
  calls: 1,
  targets: ({ network, watch }) =>
    (['P', 'X', 'C'] as const).flatMap((chain) =>
      addressesOn(chain, watch.addresses).map((addresses) => ({
        network,
        blockchainId: CHAINS[chain],
        addresses,
      })),
    ),
  walk: (client, { network, blockchainId, addresses = '' }) =>
    walkSingleResponse(() =>
      client.get(`/v1/networks/${network}/blockchains/${blockchainId}/balances`, {
        // The service documents only P- and X- as prefixes of an address.
        addresses: addresses.replace(/^C-/, ''),
      }),
    ),
};

/**
 * Returns one item per group and asset. A group that is no list, such as `restakedRewards` of the P-chain, is
 * an amount without an asset (upstream-services.md#values).
 */
function itemsOf(body: unknown): unknown[] {
  return getEntries(getObject(body, 'balances')).flatMap(([balanceGroup, assets]) => {
    if (assets === null) return [];
    if (!Array.isArray(assets)) return [{ balanceGroup, assetId: '', amount: assets }];
    return assets.map((asset: unknown) => ({ ...Object.fromEntries(getEntries(asset)), balanceGroup }));
  });
}

export const primaryBalances = defineDataset({
  name: 'primary_balances',
  about:
    'Balances of watched addresses on the P-, X- and C-chain, by balance group and asset. C-chain balances require an address with C- or without a prefix.',
  operations: ['GET /v1/networks/{network}/blockchains/{blockchainId}/balances'],
  history: 'state',
  source,
  request: ['network', 'blockchainId', 'addresses'],
  key: ['network', 'blockchain_id', 'addresses', 'balance_group', 'asset_id', 'shared_with_chain_id'],
  items: itemsOf,
  answerStates: { network: ['chainInfo.network'], blockchainId: ['chainInfo.chainName'] },
  item: object({
    balanceGroup: text("The group's name, such as unlockedUnstaked; restakedRewards is an amount in nAVAX."),
    assetId: text('Empty if the group is an amount without an asset.'),
    sharedWithChainId: optional(text()),
    name: optional(text()),
    symbol: optional(text()),
    denomination: optional(count('Decimals of the asset.')),
    type: optional(text()),
    amount: uint("In the asset's smallest unit."),
    utxoCount: optional(count()),
    status: optional(text()),
  }),
  example: {
    balanceGroup: 'unlockedUnstaked',
    assetId: 'FvwEAhmxKfeiG8SnEvq42hc6whRyY3EFYAvebMqDNDGCgxN5Z',
    name: 'Avalanche',
    symbol: 'AVAX',
    denomination: 9,
    type: 'secp256k1',
    amount: '5001000000',
    utxoCount: 1,
  },
});

export const { table: primaryBalancesTable } = primaryBalances;
