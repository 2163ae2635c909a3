import { describe, expect } from 'vitest';
import { stakingTransactions } from '../../src/datasets/chain-data/staking-transactions.ts';
import { registerAll } from '../../src/recording/register.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const HOUR = 3_600_000;
const clock = new ManualClock(Date.UTC(2026, 0, 10));
const NODE = 'NodeID-ZSgv3H2FvSopL9oT5cWzenMc8ebsQAoU';

/** An output of a transaction, in nAVAX. */
interface Output {
  readonly id: string;
  readonly amount: number;
  readonly to: readonly string[];
  readonly type?: string;
  readonly staked?: boolean;
  readonly kind?: string;
}

const utxo = ({ id, amount, to, type, staked = false, kind = 'TRANSFER' }: Output) => ({
  utxoId: id,
  addresses: to,
  asset: {
    assetId: 'avax',
    name: 'Avalanche',
    symbol: 'AVAX',
    denomination: 9,
    type: 'secp256k1',
    amount: `${amount}`,
  },
  amount: `${amount}`,
  ...(type === undefined ? {} : { rewardType: type }),
  staked,
  utxoType: kind,
});

const transaction = (txHash: string, txType: string, more: object) => ({
  txHash,
  txType,
  blockTimestamp: clock.now / 1000 - 60,
  ...more,
});

const stake = (hash: string, type: string, estimatedReward: number, more: object = {}) =>
  transaction(hash, type, {
    ...{ nodeId: NODE, estimatedReward: `${estimatedReward}`, rewardAddresses: ['one'] },
    ...{ startTimestamp: clock.now / 1000 - 86_400, endTimestamp: clock.now / 1000 - 120, ...more },
  });

const reward = (
  hash: string,
  of: string,
  outputs: readonly Output[],
  type = 'RewardValidatorTx',
  more: object = {},
) => transaction(hash, type, { stakingTxHash: of, nodeId: NODE, emittedUtxos: outputs.map(utxo), ...more });

const { range } = stakingTransactions.source;
const RANGE = range ? { range } : {};
let networks = 0;

/** Records transactions of an address of a separate network. */
async function recorderOf(address = 'P-one') {
  networks += 1;
  const target = { network: `network-${networks}`, addresses: address };
  const feed = scriptedFeed(stakingTransactions, target, RANGE);
  await registerAll(sql, [feed], clock.now, { recorder: target.network, digest: null });
  const record = async (...transactions: readonly object[]) => {
    feed.script = () => onlyPage({ transactions }, { proven: { from: 0, to: clock.now } });
    expect(await run(recordingContext(sql, clock.read), feed, { from: 0, to: clock.now })).toMatchObject({
      status: 'done',
      quarantined: 0,
    });
  };
  const rewards = async (at = clock.now) =>
    (
      await sql<{ line: string }[]>`
        select concat_ws(' ', reward_type, state, coalesce(estimate::text, '-'), coalesce(received::text, '-'), coalesce(recipients, '-')) as line
        from reporting.rewards_as_of(${new Date(at)}) where network = ${target.network} order by 1`
    ).map(({ line }) => line);
  return { record, rewards, target };
}

describe('a reward transaction', () => {
  it('is counted once per output, however often the output is listed', async () => {
    const { record, rewards } = await recorderOf();
    const output: Output = { id: 'u', amount: 108, to: ['one'], type: 'VALIDATOR' };
    await record(
      stake('0xa1', 'AddValidatorTx', 110),
      reward('0xa2', '0xa1', [output, output, { ...output, id: 'v', amount: 1 }]),
    );
    expect(await rewards()).toEqual(['VALIDATOR received 110 109 one']);
  });

  it('does not count the stake that it returns', async () => {
    const { record, rewards } = await recorderOf();
    await record(
      stake('0xb1', 'AddPermissionlessDelegatorTx', 10),
      reward('0xb2', '0xb1', [
        { id: 'u', amount: 2_000, to: ['one'], type: 'DELEGATOR', staked: true },
        { id: 'v', amount: 3_000, to: ['one'], type: 'DELEGATOR', kind: 'STAKE' },
        { id: 'w', amount: 4_000, to: ['one'] },
        { id: 'x', amount: 9, to: ['one'], type: 'DELEGATOR' },
        { id: 'y', amount: 1, to: ['two'], type: 'VALIDATOR_FEE' },
      ]),
    );
    expect(await rewards()).toEqual(['DELEGATOR received 10 9 one', 'VALIDATOR_FEE received - 1 two']);
  });

  it('without an output is a refusal, and one of several owners has all of them', async () => {
    const { record, rewards } = await recorderOf();
    await record(
      stake('0xc1', 'AddValidatorTx', 110),
      reward('0xc2', '0xc1', [{ id: 'u', amount: 2_000, to: ['one'], kind: 'STAKE', type: 'VALIDATOR' }]),
      stake('0xc3', 'AddValidatorTx', 50),
      reward('0xc4', '0xc3', [{ id: 'v', amount: 50, to: ['P-two', 'P-one'], type: 'VALIDATOR' }]),
    );
    expect(await rewards()).toEqual(['VALIDATOR received 50 50 one, two', 'VALIDATOR refused 110 0 one']);
  });

  it('of a validator that renews itself leaves the stake open for its next reward', async () => {
    const { record, rewards } = await recorderOf();
    const endTimestamp = clock.now / 1000 + 86_400;
    await record(
      stake('0xd1', 'AddAutoRenewedValidatorTx', 70, { endTimestamp }),
      reward(
        '0xd2',
        '0xd1',
        [{ id: 'u', amount: 30, to: ['one'], type: 'VALIDATOR' }],
        'RewardAutoRenewedValidatorTx',
      ),
    );
    expect(await rewards()).toEqual(['VALIDATOR expected 70 - one', 'VALIDATOR received 70 30 one']);
  });

  it('is found by the staking transaction if it names none', async () => {
    const { record, rewards } = await recorderOf();
    await record(
      stake('0xe1', 'AddValidatorTx', 20, { rewardTxHash: '0xe2' }),
      reward('0xe2', '', [{ id: 'u', amount: 20, to: ['one'], type: 'VALIDATOR' }], 'RewardValidatorTx', {
        stakingTxHash: undefined,
      }),
    );
    expect(await rewards()).toEqual(['VALIDATOR received 20 20 one']);
  });
});

it('is expected only if its receipts were recorded at the moment of the query', async () => {
  const { record, rewards, target } = await recorderOf();
  const [soon, mine] = [clock.now / 1000 + 86_400, ['P-one']];
  await record(
    stake('0xf1', 'AddValidatorTx', 5, { endTimestamp: soon, rewardAddresses: ['P-other'] }),
    stake('0xf2', 'AddValidatorTx', 6, { endTimestamp: soon, rewardAddresses: mine }),
  );
  const before = clock.now;
  expect(await rewards()).toEqual(['VALIDATOR expected 6 - one', 'VALIDATOR not recorded 5 - other']);
  clock.now += HOUR;
  const other = scriptedFeed(stakingTransactions, { ...target, addresses: 'P-other' }, RANGE);
  await registerAll(sql, [other], clock.now, { recorder: `${target.network}-other`, digest: null });
  other.script = () => onlyPage({ transactions: [] }, { proven: { from: 0, to: clock.now } });
  await run(recordingContext(sql, clock.read), other, { from: 0, to: clock.now });
  expect(await rewards()).toEqual(['VALIDATOR expected 5 - other', 'VALIDATOR expected 6 - one']);
  expect(await rewards(before), 'the past does not change').toEqual([
    'VALIDATOR expected 6 - one',
    'VALIDATOR not recorded 5 - other',
  ]);
  clock.now += HOUR;
  await sql`
    update recorder.target_datasets set active = false, left_at = ${new Date(clock.now)}
    where target_key like ${`%addresses=P-other%network=${target.network}%`}`;
  expect(await rewards(before + HOUR), 'an address that is not watched any more was at that time').toEqual([
    'VALIDATOR expected 5 - other',
    'VALIDATOR expected 6 - one',
  ]);
});
