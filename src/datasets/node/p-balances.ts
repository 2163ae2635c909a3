import { defineDataset } from '../dataset.ts';
import { object, optional, text, uint } from '../fields.ts';
import { getEntries, getMember, getObject } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { nodeMethod } from '../sources/node-method.ts';
import { addressesOn } from '../sources/primary-addresses.ts';
import { utxoReferences } from './utxo-references.ts';

/** Balance of an address on the P-chain (platform.getBalance, deprecated). */
const source = nodeMethod({
  name: 'p-balances',
  path: '/ext/bc/P',
  method: 'platform.getBalance',
  every: 10 * minute,
  about: ({ watch }) => addressesOn('P', watch.addresses).map((address) => ({ address })),
  params: ({ address }) => ({ addresses: [address] }),
});

/** Maps from asset to amount in the response, by column. */
const BALANCE_MAPS = {
  balance: 'balances',
  unlocked: 'unlockeds',
  lockedStakeable: 'lockedStakeables',
  lockedNotStakeable: 'lockedNotStakeables',
};

/**
 * Returns one item per asset. Amounts outside of the maps belong to the native asset, which the maps also
 * contain.
 */
function itemsOf(body: unknown): unknown[] {
  if (getMember(body, BALANCE_MAPS.balance) !== null) getObject(body, BALANCE_MAPS.balance);
  const utxoIDs = getMember(body, 'utxoIDs');
  const assets = new Map<string, Record<string, unknown>>();
  for (const [column, map] of Object.entries(BALANCE_MAPS))
    for (const [assetID, amount] of getEntries(getMember(body, map))) {
      const item = assets.get(assetID) ?? { assetID, utxoIDs };
      item[column] = amount;
      assets.set(assetID, item);
    }
  return [...assets.values()];
}

export const pBalances = defineDataset({
  name: 'p_balances',
  about: 'Balances of a watched address on the P-chain, by asset.',
  operations: ['platform.getBalance'],
  history: 'state',
  source,
  request: ['node', 'address'],
  key: ['node', 'address', 'asset_id'],
  items: itemsOf,
  item: object({
    assetID: text(),
    balance: uint('Total balance.'),
    unlocked: optional(uint()),
    lockedStakeable: optional(uint('Locked, but can be staked.')),
    lockedNotStakeable: optional(uint('Locked, and cannot be staked.')),
    utxoIDs: utxoReferences("The address's outputs, of all its assets."),
  }),
  example: {
    assetID: 'BUuypiq2wyuLMvyhzFXcPyxPMCgSp7eeDohhQRqTChoBjKziC',
    balance: '30000000000000000',
    unlocked: '20000000000000000',
    lockedStakeable: '10000000000000000',
    lockedNotStakeable: '0',
    utxoIDs: [{ txID: '2QouvFWUbjuySRxeX5xMbNCuAaKWfbk5FeEa2JmoF85RKLk2dD', outputIndex: 1 }],
  },
});

export const { table: pBalancesTable } = pBalances;
