import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset, DatasetColumn } from '../../src/datasets/contract.ts';
import { list, object, set } from '../../src/datasets/fields.ts';
import { buildDecoder } from '../../src/recording/decode.ts';

/** Lists whose order has no meaning. */
const SETS: Readonly<Record<string, readonly string[]>> = {
  subnets: ['owner_addresses', 'subnet_ownership_info_addresses'],
  pending_rewards: ['addresses'],
  deployed_contracts: ['resource_links', 'tags'],
  staking_transactions: [
    'reward_addresses',
    'subnet_ownership_info_addresses',
    'value',
    'amount_staked',
    'amount_burned',
    'amount_l1_validator_balance_burned',
  ],
  validators: [
    'remaining_balance_owner_addresses',
    'deactivation_owner_addresses',
    'validation_reward_owner_addresses',
    'delegation_reward_owner_addresses',
    'validator_authority_addresses',
  ],
  validator_delegators: ['reward_owner_addresses'],
  x_utxos: ['addresses'],
  x_balances: ['utxo_ids'],
  p_balances: ['utxo_ids'],
  peers: ['tracked_subnets', 'supported_acps', 'objected_acps', 'benched'],
  proposals: ['supporters', 'objectors'],
};
/** Lists whose order is part of a block or of a transaction, which never changes. */
const ORDERED: Readonly<Record<string, readonly string[]>> = {
  staking_transactions: ['consumed_utxos', 'emitted_utxos', 'l1_validator_details'],
  proposed_blocks: ['transactions'],
  p_blocks: ['txs'],
  x_blocks: ['txs'],
  x_transactions: [
    ...['outputs', 'inputs', 'exported_outputs', 'imported_inputs'].map((name) => `unsigned_tx_${name}`),
    'credentials',
  ],
  ...Object.fromEntries(
    ['deployment_transactions', 'evm_transactions'].map((name) => [
      name,
      ['erc20_transfers', 'erc721_transfers', 'erc1155_transfers', 'internal_transactions'],
    ]),
  ),
};

/** Returns the item with a value at a path. */
function withValue(item: object, [name, ...rest]: readonly string[], value: unknown): object {
  if (name === undefined) return item;
  const inner: unknown = Reflect.get(item, name);
  const within = typeof inner === 'object' && inner !== null ? inner : {};
  return { ...item, [name]: rest.length > 0 ? withValue(within, rest, value) : value };
}

/** Returns the values of a row that has a list in one of its columns. */
function rowOf(dataset: Dataset, { path }: DatasetColumn, elements: readonly unknown[]): unknown[] {
  const { rows, refused } = buildDecoder(dataset).items([withValue(dataset.example, path, elements)], {
    target: {},
    now: Date.now(),
  });
  expect(refused).toEqual([]);
  return (rows[0]?.row ?? []).map((text) => (text?.startsWith('[') ? JSON.parse(text) : text));
}

/** Returns the same elements, with the members of objects in another order. */
const otherMembers = (elements: readonly unknown[]) =>
  elements.map((one) =>
    typeof one === 'object' && one !== null ? Object.fromEntries(Object.entries(one).reverse()) : one,
  );

const element = fc.oneof(fc.string(), fc.nat(), fc.record({ b: fc.nat({ max: 3 }), a: fc.nat({ max: 3 }) }));
const elements = fc
  .uniqueArray(element, { minLength: 2, maxLength: 6, selector: (one) => JSON.stringify(one) })
  .chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length })));

const lists = catalog.flatMap((dataset) =>
  dataset.columns.filter(({ element }) => element).map((column) => ({ dataset, column })),
);

describe('the order of a list', () => {
  it.each(lists.map((one) => [`${one.dataset.name}.${one.column.name}`, one] as const))(
    'is preserved or ignored: %s',
    (_, { dataset, column }) => {
      const isSet = SETS[dataset.name]?.includes(column.name) ?? false;
      fc.assert(
        fc.property(elements, ([one, other]) => {
          const equal = isDeepStrictEqual(
            rowOf(dataset, column, one),
            rowOf(dataset, column, otherMembers(other)),
          );
          expect(equal).toBe(isSet || JSON.stringify(one) === JSON.stringify(other));
        }),
        { numRuns: 30 },
      );
    },
  );

  it('is declared for every recorded list', () => {
    const named = [SETS, ORDERED].flatMap((some) =>
      Object.entries(some).flatMap(([name, columns]) => columns.map((column) => `${name}.${column}`)),
    );
    expect(named.sort()).toEqual(lists.map(({ dataset, column }) => `${dataset.name}.${column.name}`).sort());
  });
});

it('is normalized for sets within elements of a list or a set', () => {
  const schema = list(object({ owner: object({ addresses: set() }), order: list() }));
  const of = (addresses: unknown[], order: unknown[]) => [{ owner: { addresses, more: 1 }, order }];
  expect(schema.parse(of(['b', 'a'], ['y', 'x']))).toBe(schema.parse(of(['a', 'b'], ['y', 'x'])));
  expect(schema.parse(of(['a', 'b'], ['y', 'x']))).not.toBe(schema.parse(of(['a', 'b'], ['x', 'y'])));
  const sets = set(set());
  expect(sets.parse([['b', 'a'], ['c']])).toBe(sets.parse([['c'], ['a', 'b']]));
});
