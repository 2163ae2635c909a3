import { avax, plain, quotient, scaled, units } from '../decimals.ts';
import { type Answers, type Asked, DAY, dayOf, delegated, inAvax, iso, SECOND } from './asked.ts';

/** The truth about blocks, rewards and income. */
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
      .map(({ stake, type, owner, amount }) => ({
        end_timestamp: iso(stake.end * SECOND),
        node_id: stake.node.nodeId,
        tx_hash: stake.txId,
        reward_type: type,
        addresses: owner.address,
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

  rewards_paid: (asked) =>
    asked.paid().map((reward) => ({
      paid_at: iso(reward.at),
      node_id: reward.stake.node.nodeId,
      tx_hash: reward.stake.txId,
      reward_type: reward.type,
      addresses: reward.owner.address,
      amount: String(reward.amount),
      tokens: avax(reward.amount),
      symbol: 'AVAX',
      price: reward.price,
      price_observed_at: reward.priceAt === null ? null : iso(reward.priceAt),
      value: reward.price === null ? null : scaled(reward.amount * units(reward.price, 6), 15),
    })),

  income: (asked) => {
    const by = asked.given('by') ?? 'day';
    if (by === 'week') return null;
    const currency = asked.given('currency') ?? 'usd';
    const groups = new Map<string, ReturnType<Asked['paid']>>();
    for (const reward of asked.paid()) {
      const period = by === 'day' ? dayOf(reward.at) : `${dayOf(reward.at).slice(0, 7)}-01`;
      const key = `${period} ${reward.owner.address}`;
      groups.set(key, [...(groups.get(key) ?? []), reward]);
    }
    return [...groups].map(([key, rewards]) => {
      const [period = '', owner = ''] = key.split(' ');
      const amount = rewards.reduce((sum, one) => sum + one.amount, 0n);
      const priced = rewards.filter(({ price }) => price !== null);
      return {
        period,
        addresses: owner,
        rewards: String(rewards.length),
        amount: String(amount),
        tokens: avax(amount),
        symbol: 'AVAX',
        value:
          priced.length === 0
            ? null
            : scaled(
                priced.reduce((sum, one) => sum + one.amount * units(one.price ?? '0', 6), 0n),
                15,
              ),
        currency,
        without_price: String(rewards.length - priced.length),
      };
    });
  },
};
