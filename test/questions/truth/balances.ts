import { price } from '../../../sandbox/evm/prices.ts';
import type { Holding } from '../../../sandbox/network/holdings.ts';
import { between } from '../../../sandbox/random.ts';
import { scaled, units } from '../decimals.ts';
import { type Answers, dayOf, SECOND } from './question.ts';

/** Expected results about balances. */
export const balances: Answers = {
  primary_balances_over_time: (question) => {
    const { holdings, accounts } = question.world.sandbox.network;
    const addresses = question.world.recorder.config.watch.addresses.filter(
      (one) => one === (question.parameter('address') ?? one),
    );
    return question.dayEnds().flatMap(({ day, polledAt }) =>
      addresses.flatMap((address) => {
        const [owner] = accounts.among([address]);
        if (!owner) return [];
        const sec = polledAt / SECOND;
        const letter = address.slice(0, 1);
        const isP = letter === 'P';
        const groups: Record<string, Holding[]> =
          {
            P: {
              unlockedUnstaked: holdings.unlocked(owner, sec),
              unlockedStaked: holdings.staked(owner, sec),
              lockedStakeable: holdings.lockedStakeable(owner, sec),
              atomicMemoryUnlocked: holdings.atomic(owner, 0, sec),
            },
            X: { unlocked: holdings.onX(owner, sec), atomicMemoryUnlocked: holdings.atomic(owner, 1, sec) },
            C: { atomicMemoryUnlocked: holdings.atomic(owner, 2, sec) },
          }[letter] ?? {};
        const about = { day: dayOf(day), blockchain_id: `${letter.toLowerCase()}-chain`, address };
        const restaked = {
          ...about,
          balance_group: 'restakedRewards',
          asset_id: '',
          symbol: null,
          shared_with_chain_id: null,
          amount: '0',
          tokens: null,
        };
        return [
          ...(isP ? [restaked] : []),
          ...Object.entries(groups).flatMap(([group, entries]) =>
            entries.map(({ asset, amount, sharedWithChainId }) => ({
              ...about,
              balance_group: group,
              asset_id: asset.assetId,
              symbol: asset.symbol,
              shared_with_chain_id: sharedWithChainId ?? null,
              amount: String(amount),
              tokens: scaled(amount, asset.denomination),
            })),
          ),
        ];
      }),
    );
  },

  native_balances_over_time: (question) => {
    const { evm } = question.world.sandbox;
    return question.dayEnds().flatMap(({ day, polledAt }) =>
      question.world.recorder.config.watch.evmAddresses.flatMap(({ chain, address }) => {
        const network = evm.get(chain);
        if (!network || chain !== (question.parameter('chain_id') ?? chain)) return [];
        if (address !== (question.parameter('address') ?? address).toLowerCase()) return [];
        const account = network.account(address) ?? -1;
        const whole = between(
          network.seed,
          1,
          90_000,
          account,
          network.countUntil(account, polledAt / SECOND),
          21,
        );
        const balance = BigInt(`${whole}123456789012345678`);
        const usd = String(price(network, 'usd', polledAt / SECOND));
        const isOfDay = polledAt >= day;
        return [
          {
            day: dayOf(day),
            chain_id: chain,
            address,
            balance: String(balance),
            tokens: scaled(balance, 18),
            symbol: network.chain.token.symbol,
            price: isOfDay ? usd : null,
            value: isOfDay ? scaled(balance * units(usd, 6), 24) : null,
          },
        ];
      }),
    );
  },
};
