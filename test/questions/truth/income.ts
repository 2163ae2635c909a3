import { avax, plain, quotient, scaled, units } from '../decimals.ts';
import { type Answers, DAY, dayOf, delegated, inAvax, iso, ownersOf, SECOND } from './question.ts';

/** Expected results about blocks, rewards and income. */
export const income: Answers = {
  blocks_proposed: (asked) => {
    const { network } = asked.world.sandbox;
    const { watch } = asked.world.recorder.config;
    const days = asked.dayEnds();
    return ['p-chain', 'x-chain', 'c-chain'].flatMap((alias) => {
      const chain = network.chain(alias);
      if (!chain) return [];
      const blocks = network.blocks(chain);
      const known: { time: number; height: number; nodeId: string }[] = [];
      for (let height = blocks.heightAt(asked.from / SECOND - 86_400); ; height += 1) {
        const time = blocks.time(height) * SECOND;
        if (time >= asked.to || time > asked.lastLook) break;
        const nodeId = network.validators.nodes[blocks.proposers.seatOf(height)]?.nodeId ?? '';
        if (time >= asked.from - DAY && watch.nodeIds.includes(nodeId)) known.push({ time, height, nodeId });
      }
      const highest = (day: number) =>
        Math.max(...known.filter(({ time }) => dayOf(time) === dayOf(day)).map(({ height }) => height));
      const proposers = [...new Set(known.map(({ nodeId }) => nodeId))].filter(
        (id) => id === (asked.given('node_id') ?? id),
      );
      return days.flatMap(({ day, look }) => {
        const grown = BigInt(highest(day) - highest(day - DAY));
        const stakes = asked.validators(look);
        const total = stakes.reduce((sum, stake) => sum + stake.weight + delegated(stake, look), 0n);
        return proposers.map((nodeId) => {
          const own = known.filter((one) => one.nodeId === nodeId && dayOf(one.time) === dayOf(day));
          const stake = stakes.find(({ node }) => node.nodeId === nodeId);
          const weight = stake && stake.weight + delegated(stake, look);
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

  rewards_pending: (asked) =>
    asked
      .rewards(asked.lastLook)
      .filter(({ stake }) => stake.end * SECOND > asked.asOf)
      .filter(({ stake }) => stake.node.nodeId === (asked.given('node_id') ?? stake.node.nodeId))
      .map(({ stake, type, owners, amount }) => ({
        end_timestamp: iso(stake.end * SECOND),
        node_id: stake.node.nodeId,
        tx_hash: stake.txId,
        reward_type: type,
        addresses: ownersOf(owners),
        progress: plain(
          Math.min(100, ((asked.lastLook / SECOND - stake.start) / (stake.end - stake.start)) * 100).toFixed(
            4,
          ),
        ),
        ...inAvax('stake', stake.weight),
        reward: String(amount),
        reward_tokens: avax(amount),
        symbol: 'AVAX',
      })),

  rewards: (asked) => asked.knownRewards().rows(),

  rewards_received: (asked) =>
    asked.receipts().map(({ at, stake, txId, type, addresses, isRecorded, amount, price, priceAt }) => ({
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

  income: (asked) => {
    const by = asked.given('by') ?? 'day';
    if (by === 'week') return null;
    const open = asked
      .knownRewards()
      .rows()
      .filter(({ state, due_at }) => {
        const isOpen = state === 'expected' || state === 'not recorded';
        return isOpen && Date.parse(due_at) >= asked.from && Date.parse(due_at) < asked.windowEnd;
      })
      .map(({ due_at, recipients, state, estimate }) => ({
        ...{ at: Date.parse(due_at), addresses: recipients, state, amount: null, price: null },
        expected: state === 'expected' ? BigInt(estimate ?? 0) : null,
      }));
    const came = asked.receipts().map(({ at, addresses, isRecorded, amount, price }) => ({
      ...{ at, addresses, state: isRecorded ? 'received' : 'not recorded', price, expected: null },
      amount: isRecorded ? amount : null,
    }));
    const entries = [...came, ...open];
    const keyOf = ({ at, addresses, state }: (typeof entries)[number]) =>
      `${by === 'day' ? dayOf(at) : `${dayOf(at).slice(0, 7)}-01`}|${addresses}|${state}`;
    const groups = new Map<string, typeof entries>();
    for (const entry of entries) groups.set(keyOf(entry), [...(groups.get(keyOf(entry)) ?? []), entry]);
    return [...groups].map(([key, group]) => {
      const [period = '', addresses = '', state = ''] = key.split('|');
      const sum = (amounts: readonly (bigint | null)[]) => {
        const known = amounts.filter((amount) => amount !== null);
        return known.length === 0 ? null : known.reduce((total, amount) => total + amount, 0n);
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
        currency: asked.given('currency') ?? 'usd',
        without_price: String(group.filter((one) => one.amount !== null && one.price === null).length),
        expected: expected === null ? null : String(expected),
        expected_tokens: expected === null ? null : avax(expected),
      };
    });
  },
};
