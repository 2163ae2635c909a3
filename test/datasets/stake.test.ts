import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stakers } from '../../src/datasets/chain-data/stakers.ts';
import type { Dataset } from '../../src/datasets/contract.ts';
import { peerReadings } from '../../src/datasets/node/peer-readings.ts';
import { peers } from '../../src/datasets/node/peers.ts';
import { validatorDelegators } from '../../src/datasets/node/validator-delegators.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { buildDecoder } from '../../src/recording/decode.ts';
import { itemColumns } from '../../src/recording/histories/batch.ts';

const PRIMARY = '11111111111111111111111111111111LpoYY';
const OTHER = '2Z36RnQuk1hvsnFeGWzfZUfXNr7w1SjzmDQ78YxfTVNAkDq3nZ';

/** Returns the rows of a response by column, as texts, and the content of `extra`. */
function rowsOf(dataset: Dataset, body: unknown, subnetId: string) {
  const names = itemColumns(dataset).map(({ name }) => name);
  const { rows, refused } = buildDecoder(dataset).page(body, { node: 'n', subnetId });
  expect(refused).toEqual([]);
  return rows.map(({ row }) =>
    Object.fromEntries([...names, 'extra'].map((name, at) => [name, row[at] ?? null])),
  );
}

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String);
const amounts = fc
  .record({ weight: uint64, stakeAmount: uint64 }, { requiredKeys: [] })
  .filter(({ weight, stakeAmount }) => weight !== undefined || stakeAmount !== undefined);

describe('the stake of a validator or delegator', () => {
  const staker = { nodeID: 'NodeID-a', startTime: '1763000000', txID: 't' };
  it.each([
    ['a validator', validators, (record: object) => ({ validators: [record] })],
    ['a delegator', validatorDelegators, (record: object) => ({ validators: [{ delegators: [record] }] })],
  ])('of %s is in nAVAX on the primary network only, and no amount is dropped', (_, dataset, body) => {
    fc.assert(
      fc.property(amounts, fc.constantFrom(PRIMARY, OTHER), ({ weight, stakeAmount }, subnetId) => {
        const sent = { ...staker, ...(weight && { weight }), ...(stakeAmount && { stakeAmount }) };
        const [row] = rowsOf(dataset, body(sent), subnetId);
        expect(row).toMatchObject({
          weight: weight ?? stakeAmount,
          stake_navax: subnetId === PRIMARY ? (stakeAmount ?? weight) : null,
        });
        for (const amount of Object.values({ weight, stakeAmount }))
          if (amount !== undefined) expect(JSON.stringify(row)).toContain(amount);
      }),
    );
  });
});

describe('the uptime on subnets that peers report', () => {
  const uptimes = fc.dictionary(
    fc.constantFrom(PRIMARY, OTHER, '29uVeLPJB1eQJkzRemU8g8wZDw5uJRqpab5U2mX9euieVwiEbL'),
    fc.integer({ min: 0, max: 100 }).map(String),
  );
  it('is stored as a reading, and is no change of the peer', () => {
    fc.assert(
      fc.property(uptimes, (observedSubnetUptimes) => {
        const peer = { nodeID: 'NodeID-a', observedUptime: '99', lastSent: '2025-11-20T15:23:02Z' };
        const body = { peers: [{ ...peer, observedSubnetUptimes }] };
        expect(rowsOf(peers, body, PRIMARY)).toMatchObject([{ node_id: 'NodeID-a', extra: null }]);
        const read = rowsOf(peerReadings, body, PRIMARY).map((row) => [row.subnet_id, row.observed_uptime]);
        expect(Object.fromEntries(read)).toEqual({ ...observedSubnetUptimes, [PRIMARY]: '99' });
        expect(read).toHaveLength(Object.keys({ ...observedSubnetUptimes, [PRIMARY]: '' }).length);
      }),
    );
  });
});

it('are requested for the keys of P- and X-chain addresses, once each, and for none of the C-chain', () => {
  expect(stakers(['C-avax1a', 'X-avax1b', 'P-avax1b', 'P-avax1c'])).toEqual(['P-avax1b', 'P-avax1c']);
});
