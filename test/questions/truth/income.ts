import { avax, plain, quotient, scaled, units } from '../decimals.ts';
import { type Answers, DAY, dayOf, delegated, inAvax, iso, ownersOf, SECOND } from './question.ts';

/** Expected results about blocks, rewards and income. */
export const income: Answers = {
  blocks_proposed: (question) => {
    const { network } = question.world.sandbox;
    const { watch } = question.world.recorder.config;
    const days = question.dayEnds();
    return ['p-chain', 'x-chain', 'c-chain'].flatMap((alias) => {
      const chain = network.chain(alias);
      if (!chain) return [];
      const blocks = network.blocks(chain);
      const proposed: { time: number; height: number; nodeId: string }[] = [];
      for (let height = blocks.heightAt(question.from / SECOND - 86_400); ; height += 1) {
        const time = blocks.time(height) * SECOND;
        if (time >= question.to || time > question.lastPoll) break;
        const nodeId = network.validators.nodes[blocks.proposers.seatOf(height)]?.nodeId ?? '';
        if (time >= question.from - DAY && watch.nodeIds.includes(nodeId))
          proposed.push({ time, height, nodeId });
      }
      const highest = (day: number) =>
        Math.max(...proposed.filter(({ time }) => dayOf(time) === dayOf(day)).map(({ height }) => height));
      const proposers = [...new Set(proposed.map(({ nodeId }) => nodeId))].filter(
        (id) => id === (question.parameter('node_id') ?? id),
      );
      return days.flatMap(({ day, polledAt }) => {
        const grown = BigInt(highest(day) - highest(day - DAY));
        const stakes = question.validators(polledAt);
        const total = stakes.reduce((sum, stake) => sum + stake.weight + delegated(stake, polledAt), 0n);
        return proposers.map((nodeId) => {
          const own = proposed.filter((one) => one.nodeId === nodeId && dayOf(one.time) === dayOf(day));
          const stake = stakes.find(({ node }) => node.nodeId === nodeId);
          const weight = stake && stake.weight + delegated(stake, polledAt);
          return {
            day: dayOf(day),
            blockchain_id: alias,
            node_id: nodeId,
            blocks: String(own.length),
            transactions: String(
              own.reduce((sum, { height }) => sum + blocks.transactionNumbers(height).length, 0),
            ),
            chain_blocks: String(grown),
            share_of_blocks: quotient(BigInt(own.length), grown, 9),
            share_of_stake: weight === undefined ? null : quotient(weight, total, 9),
            expected_blocks: weight === undefined ? null : quotient(weight * grown, total, 4),
          };
        });
      });
    });
  },

  rewards_pending: (question) =>
    question
      .rewards(question.lastPoll)
      .filter(({ stake }) => stake.end * SECOND > question.asOf)
      .filter(({ stake }) => stake.node.nodeId === (question.parameter('node_id') ?? stake.node.nodeId))
      .map(({ stake, type, owners, amount }) => ({
        end_timestamp: iso(stake.end * SECOND),
        node_id: stake.node.nodeId,
        tx_hash: stake.txId,
        reward_type: type,
        addresses: ownersOf(owners),
        progress: plain(
          Math.min(
            100,
            ((question.lastPoll / SECOND - stake.start) / (stake.end - stake.start)) * 100,
          ).toFixed(4),
        ),
        ...inAvax('stake', stake.weight),
        reward: String(amount),
        reward_tokens: avax(amount),
        symbol: 'AVAX',
      })),

  rewards: (question) => question.knownRewards().rows(),

  rewards_received: (question) =>
    question.receipts().map(({ at, stake, txId, type, addresses, isRecorded, amount, price, priceAt }) => ({
      received_at: iso(at),
      staking_tx_hash: stake.txId,
      reward_tx_hash: txId,
      reward_type: type,
      node_id: stake.node.nodeId,
      addresses,
      is_recorded: isRecorded,
      amount: String(amount),
      tokens: avax(amount),
      symbol: 'AVAX',
      price,
      price_observed_at: priceAt === null ? null : iso(priceAt),
      value: price === null ? null : scaled(amount * units(price, 6), 15),
    })),

  income: (question) => {
    const by = question.parameter('by') ?? 'day';
    if (by === 'week') return null;
    const open = question
      .knownRewards()
      .rows()
      .filter(({ state, due_at }) => {
        const isOpen = state === 'expected' || state === 'not recorded';
        return isOpen && Date.parse(due_at) >= question.from && Date.parse(due_at) < question.windowEnd;
      })
      .map(({ due_at, recipients, state, estimate }) => ({
        ...{ at: Date.parse(due_at), addresses: recipients, state, amount: null, price: null },
        expected: state === 'expected' ? BigInt(estimate ?? 0) : null,
      }));
    const received = question.receipts().map(({ at, addresses, isRecorded, amount, price }) => ({
      ...{ at, addresses, state: isRecorded ? 'received' : 'not recorded', price, expected: null },
      amount: isRecorded ? amount : null,
    }));
    const entries = [...received, ...open];
    const keyOf = ({ at, addresses, state }: (typeof entries)[number]) =>
      `${by === 'day' ? dayOf(at) : `${dayOf(at).slice(0, 7)}-01`}|${addresses}|${state}`;
    const groups = new Map<string, typeof entries>();
    for (const entry of entries) groups.set(keyOf(entry), [...(groups.get(keyOf(entry)) ?? []), entry]);
    return [...groups].map(([key, group]) => {
      const [period = '', addresses = '', state = ''] = key.split('|');
      const sum = (amounts: readonly (bigint | null)[]) => {
        const nonNull = amounts.filter((amount) => amount !== null);
        return nonNull.length === 0 ? null : nonNull.reduce((total, amount) => total + amount, 0n);
      };
      const amount = sum(group.map((one) => one.amount));
      const expected = sum(group.map((one) => one.expected));
      const value = sum(
        group.map((one) =>
          one.amount === null || one.price === null ? null : one.amount * units(one.price, 6),
        ),
      );
      return {
        ...{ period, addresses, state, rewards: String(group.length), symbol: 'AVAX' },
        amount: amount === null ? null : String(amount),
        tokens: amount === null ? null : avax(amount),
        value: value === null ? null : scaled(value, 15),
        currency: question.parameter('currency') ?? 'usd',
        without_price: String(group.filter((one) => one.amount !== null && one.price === null).length),
        expected: expected === null ? null : String(expected),
        expected_tokens: expected === null ? null : avax(expected),
      };
    });
  },
};
