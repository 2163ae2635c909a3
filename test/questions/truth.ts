import { price } from '../../sandbox/evm/prices.ts';
import { KIND } from '../../sandbox/ids/spaces.ts';
import type { Interval } from '../../sandbox/metrics/calendar.ts';
import { METRICS } from '../../sandbox/metrics/names.ts';
import { holds } from '../../sandbox/network/periods.ts';
import {
  CONVERTED_AFTER,
  currentMembers,
  memberBalance,
  memberWeight,
  type Subnet,
} from '../../sandbox/network/subnets.ts';
import type { Stake, ValidatorStake } from '../../sandbox/network/validators.ts';
import { release } from '../../sandbox/node/releases.ts';
import type { SimulatedNode } from '../../sandbox/node/simulated-node.ts';
import { isConnected, observedUptime } from '../../sandbox/node/validator-records.ts';
import { between, unit } from '../../sandbox/random.ts';
import { instantIn } from '../../src/instant.ts';
import type { Values } from '../../src/reports/questions.ts';
import { avax, plain, quotient, scaled, units } from './decimals.ts';
import { CHAINS, NODES, type World } from './world.ts';

/** A row of an answer: numbers are exact decimals, moments ISO texts, days `2026-03-01`. */
export type Row = Readonly<Record<string, string | boolean | null>>;

const SECOND = 1000;
const DAY = 86_400_000;
const PRIMARY = '11111111111111111111111111111111LpoYY';
/** A pending reward is listed for so long after its stake ended, s. */
const LINGERS = 3_600;

const iso = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => iso(ms).slice(0, 10);

/**
 * What the sandbox's model answers to each question, apart from the recorder and its SQL: the model at the looks that were
 * made. What a question leaves out here of its columns is not compared.
 */
export class Truth {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** The rows of a question by the name of its view or function; null: it has to be refused. */
  rows(question: string, values: Values): Row[] | null {
    const answer = this.#answers[question];
    if (!answer) throw new Error(`nothing is known of ${question}`);
    return answer(new Asked(this.#world, values));
  }

  readonly #answers: Readonly<Record<string, (asked: Asked) => Row[] | null>> = {
    metric_over_time: (asked) =>
      [...asked.metric(asked.text('chain_id'))]
        .flatMap(([start, values]) =>
          values.filter(({ until }) => until === null).map((one) => ({ start, ...one })),
        )
        .map(({ start, value, since }) => ({
          bucket_start: iso(start),
          value,
          recorded_at: iso(since),
        })),

    metric_revisions: (asked) =>
      [...asked.metric(asked.text('chain_id'))].flatMap(([start, values]) =>
        values.map(({ value, since, until }, at) => ({
          bucket_start: iso(start),
          revision: String(at + 1),
          value,
          change: at === 0 ? null : scaled(units(value, 9) - units(values[at - 1]?.value ?? '0', 9), 9),
          recorded_at: iso(since),
          superseded_at: until === null ? null : iso(until),
          then_gone: until !== null && values[at + 1]?.since !== until,
        })),
      ),

    metric_week_over_week: (asked) => {
      const metric = asked.text('metric');
      if (metric === 'avgGasPrice') return null;
      const hasWeeks = metric === 'activeAddresses' || metric === 'txCount';
      const chains = CHAINS.filter((chain) => chain === (asked.given('chain_id') ?? chain));
      return chains.flatMap((chain) => {
        const week = (monday: number): bigint => {
          const days = hasWeeks
            ? asked.points(chain, metric, 'week', monday, monday + DAY)
            : asked.points(chain, metric, 'day', monday, monday + 7 * DAY);
          return days.reduce((sum, { value }) => sum + units(value, 9), 0n);
        };
        return asked
          .days()
          .filter((day) => new Date(day).getUTCDay() === 1)
          .map((monday) => {
            const [now, before] = [week(monday), week(monday - 7 * DAY)];
            return {
              chain_id: chain,
              week: dayOf(monday),
              value: scaled(now, 9),
              value_before: scaled(before, 9),
              change: scaled(now - before, 9),
              change_percent: quotient((now - before) * 100n, before, 4),
              is_complete: monday + 7 * DAY <= asked.asOf,
            };
          });
      });
    },

    top_chains: (asked) => {
      const chains = asked.totals(CHAINS.filter((chain) => chain !== 'total'));
      if (chains === null) return null;
      const sum = chains.reduce((all, { value }) => all + value, 0n);
      return chains.map(({ chain, value, buckets }) => ({
        place: String(1 + chains.filter((other) => other.value > value).length),
        chain_id: chain,
        value: scaled(value, 9),
        buckets: String(buckets),
        share: asked.text('metric') === 'txCount' ? quotient(value, sum, 9) : null,
      }));
    },

    metric_total: (asked) => {
      const wanted = asked.given('chain_ids')?.split(',') ?? CHAINS.filter((chain) => chain !== 'total');
      const chains = asked.totals(wanted);
      if (chains === null || (chains.length > 1 && asked.text('metric') === 'feesPaid')) return null;
      const firsts = chains.map(({ first }) => first);
      const lasts = chains.map(({ last }) => last);
      return [
        {
          value: scaled(
            chains.reduce((all, { value }) => all + value, 0n),
            9,
          ),
          chains: String(chains.length),
          buckets: String(Math.max(...chains.map(({ buckets }) => buckets))),
          first_bucket: iso(Math.min(...firsts)),
          last_bucket: iso(Math.max(...lasts)),
        },
      ];
    },

    // By the definitions of the metrics (metrics seed 2).
    metric_rules: () =>
      METRICS.map((metric) => {
        const isDistinct = /Addresses|Senders|eployers/.test(metric);
        const isTotal = metric.startsWith('cumulative');
        const isAverage = metric.startsWith('avg');
        const isPrice = /Price|fees/.test(metric);
        const most = metric.startsWith('max') ? 'max' : 'sum';
        return {
          metric,
          over_time: isTotal ? 'last' : isDistinct || isAverage ? null : most,
          over_chains: isDistinct || isPrice ? null : most,
        };
      }),

    chain_fees: (asked) => {
      const of = (metric: string) => {
        const found = asked.points(asked.text('chain_id'), metric, 'day', asked.from, asked.to);
        return new Map(found.map(({ start, value }) => [start, value]));
      };
      const [fees, count, gas, average, most] = [
        of('feesPaid'),
        of('txCount'),
        of('gasUsed'),
        of('avgGasPrice'),
        of('maxGasPrice'),
      ];
      return asked.days().map((day) => ({
        day: dayOf(day),
        fees_paid: fees.get(day) ?? null,
        tx_count: count.get(day) ?? null,
        fees_per_transaction:
          fees.has(day) && count.has(day)
            ? quotient(units(fees.get(day) ?? '', 9), units(count.get(day) ?? '', 0) * 10n ** 9n, 12)
            : null,
        gas_used: gas.get(day) ?? null,
        avg_gas_price: average.get(day) ?? null,
        max_gas_price: most.get(day) ?? null,
      }));
    },

    stake_flows: (asked) => {
      const moves = asked.looks.slice(1).map((look, at) => {
        const before = new Map(asked.validators(asked.looks[at] ?? 0).map((one) => [one.txId, one]));
        const now = new Map(asked.validators(look).map((one) => [one.txId, one]));
        const ids = [...new Set([...before.keys(), ...now.keys()])];
        const change = (of: (stake: ValidatorStake | undefined, look: number) => bigint) =>
          ids.map((id) => of(now.get(id), look) - of(before.get(id), asked.looks[at] ?? 0));
        return { look, own: change((stake) => stake?.weight ?? 0n), delegated: change(delegated) };
      });
      return asked.days().map((day) => {
        const seen = moves.filter(({ look }) => look >= day && look < asked.endOf(day));
        const sum = (some: readonly bigint[], sign: 1n | -1n) =>
          some.reduce((all, one) => (one * sign > 0n ? all + one * sign : all), 0n);
        const own = seen.flatMap((one) => one.own);
        const others = seen.flatMap((one) => one.delegated);
        const [a, b, c, d] = [sum(own, 1n), sum(own, -1n), sum(others, 1n), sum(others, -1n)];
        return {
          day: dayOf(day),
          ...inAvax('stake_in', a),
          ...inAvax('stake_out', b),
          ...inAvax('delegated_in', c),
          ...inAvax('delegated_out', d),
          ...inAvax('net', a + c - b - d),
        };
      });
    },

    stake_daily: (asked) =>
      asked.dayEnds().map(({ day, look }) => {
        const stakes = asked.validators(look);
        const own = stakes.reduce((sum, { weight }) => sum + weight, 0n);
        const others = stakes.reduce((sum, stake) => sum + delegated(stake, look), 0n);
        return {
          day: dayOf(day),
          validators: String(stakes.length),
          delegations: String(stakes.reduce((sum, stake) => sum + delegations(stake, look).length, 0)),
          ...inAvax('stake', own),
          ...inAvax('delegated', others),
          ...inAvax('total', own + others),
        };
      }),

    validator_movements: (asked) => {
      const subnet = asked.subnet(asked.given('subnet_id') ?? PRIMARY);
      if (subnet.kind === 'primary')
        return asked.movements(
          (look) => asked.validators(look).map((stake) => ({ key: stake.txId, stake, look })),
          ({ stake, look }) => ({
            node_id: stake.node.nodeId,
            tx_id: stake.txId,
            validation_id: null,
            ...span(stake),
            weight: String(stake.weight),
            delegated: String(delegated(stake, look)),
          }),
        );
      return asked.movements(
        (look) => currentMembers(subnet, look / SECOND).map((member) => ({ key: member.id, member, look })),
        ({ member, look }) => ({
          node_id: member.node.nodeId,
          tx_id: member.l1 ? null : member.id,
          validation_id: member.l1 ? member.id : null,
          start_time: iso(member.start * SECOND),
          end_time: member.l1 ? null : iso(member.end * SECOND),
          weight: String(memberWeight(member, look / SECOND)),
          delegated: null,
        }),
      );
    },

    delegation_movements: (asked) =>
      asked.movements(
        (look) => asked.watchedDelegations(look).map((stake) => ({ key: stake.txId, stake, look })),
        ({ stake }) => ({
          node_id: stake.node.nodeId,
          tx_id: stake.txId,
          owners: `P-${stake.owner.address}`,
          ...span(stake),
          ...inAvax('stake', stake.weight),
        }),
        false,
      ),

    largest_delegations: (asked) => {
      const all = asked.watchedDelegations(asked.lastLook);
      return all
        .sort((a, b) => (a.weight === b.weight ? (a.txId < b.txId ? -1 : 1) : a.weight > b.weight ? -1 : 1))
        .map((stake) => ({
          place: String(1 + all.filter(({ weight }) => weight > stake.weight).length),
          node_id: stake.node.nodeId,
          tx_id: stake.txId,
          owners: `P-${stake.owner.address}`,
          ...span(stake),
          ...inAvax('stake', stake.weight),
          share: quotient(
            stake.weight,
            all.filter(({ node }) => node === stake.node).reduce((sum, { weight }) => sum + weight, 0n),
            9,
          ),
        }))
        .slice(0, Number(asked.given('most') ?? 20));
    },

    stake_expiring: (asked) => {
      const until = asked.asOf + Number(asked.given('days') ?? 30) * DAY;
      const ends = ({ end, node }: Stake) =>
        end * SECOND > asked.asOf &&
        end * SECOND <= until &&
        node.nodeId === (asked.given('node_id') ?? node.nodeId);
      const row = (kind: string) => (stake: Stake) => ({
        end_time: iso(stake.end * SECOND),
        days_left: quotient(BigInt(stake.end * SECOND - asked.asOf), BigInt(DAY), 4),
        kind,
        node_id: stake.node.nodeId,
        tx_id: stake.txId,
        ...inAvax('stake', stake.weight),
        ...inAvax('potential_reward', stake.potentialReward),
      });
      return [
        ...asked.validators(asked.lastLook).filter(ends).map(row('validator')),
        ...asked.watchedDelegations(asked.lastLook).filter(ends).map(row('delegation')),
      ];
    },

    l1_changes: (asked) => {
      const { network } = this.#world.sandbox;
      const stateAt = (subnet: Subnet, look: number) => {
        const age = look / SECOND - subnet.createdAt;
        if (age < 0) return null;
        return {
          isL1: (subnet.kind === 'l1' || subnet.kind === 'mixed') && age >= CONVERTED_AFTER,
          owners: `1 of ${network.accounts.of(subnet.number, age < (120 * DAY) / SECOND ? 81 : 82).address}`,
        };
      };
      return network.subnets.slice(1).flatMap((subnet) => {
        const manager = `${network.ids.address.encode(KIND.contract, subnet.number).toLowerCase()} on ${subnet.chains[0]?.blockchainId}`;
        return asked.looks.slice(1).flatMap((look, at) => {
          if (look < asked.from || look >= asked.to) return [];
          const [before, now] = [stateAt(subnet, asked.looks[at] ?? 0), stateAt(subnet, look)];
          if (now === null) return [];
          const about = {
            at: iso(look),
            subnet_id: subnet.subnetId,
            is_l1: now.isL1,
            blockchains: subnet.chains
              .map(({ name }) => name)
              .sort()
              .join(', '),
            created_at: iso(subnet.createdAt * SECOND),
          };
          return [
            ...(before === null ? [{ ...about, change: 'appeared', before: null, after: now.owners }] : []),
            ...(now.isL1 && !before?.isL1
              ? [{ ...about, change: 'converted', before: null, after: manager }]
              : []),
            ...(before !== null && before.owners !== now.owners
              ? [{ ...about, change: 'owners changed', before: before.owners, after: now.owners }]
              : []),
          ];
        });
      });
    },

    l1_balances: (asked) =>
      asked.dayEnds().flatMap(({ day, look }) =>
        asked.l1Members(look).map(({ subnet, member }) => ({
          day: dayOf(day),
          subnet_id: subnet.subnetId,
          validation_id: member.id,
          node_id: member.node.nodeId,
          weight: String(memberWeight(member, look / SECOND)),
          ...inAvax('balance', memberBalance(member, look / SECOND)),
        })),
      ),

    l1_runway: (asked) =>
      asked.l1Members(asked.lastLook).map(({ subnet, member }) => {
        const balance = memberBalance(member, asked.lastLook / SECOND);
        const since = asked.asOf - Number(asked.given('days') ?? 7) * DAY;
        // It burns 512 nAVAX a second, seen where two looks have no top-up between them.
        const seen = asked.looks.filter((look) => member.start * SECOND <= look);
        const burns = seen.slice(1).some((look, at) => {
          const before = memberBalance(member, (seen[at] ?? 0) / SECOND);
          return look > since && before > memberBalance(member, look / SECOND);
        });
        return {
          runs_dry_at: burns ? iso(asked.lastLook + Number(quotient(balance, 512n, 0)) * SECOND) : null,
          subnet_id: subnet.subnetId,
          validation_id: member.id,
          node_id: member.node.nodeId,
          seen_at: iso(asked.lastLook),
          ...inAvax('balance', balance),
          burned_per_day: burns ? String(512 * 86_400) : null,
          burned_per_day_avax: burns ? avax(512n * 86_400n) : null,
        };
      }),

    blocks_proposed: (asked) => {
      const { network, watch } = this.#world.sandbox;
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
          if (time >= asked.from - DAY && watch.nodeIds.includes(nodeId))
            known.push({ time, height, nodeId });
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
            Math.min(
              100,
              ((asked.lastLook / SECOND - stake.start) / (stake.end - stake.start)) * 100,
            ).toFixed(4),
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

    primary_balances_over_time: (asked) => {
      const { network, watch } = this.#world.sandbox;
      const { holdings, accounts } = network;
      const addresses = watch.addresses.filter((one) => one === (asked.given('address') ?? one));
      return asked.dayEnds().flatMap(({ day, look }) =>
        addresses.flatMap((address) => {
          const [owner] = accounts.among([address]);
          if (!owner) return [];
          const sec = look / SECOND;
          const isP = address.startsWith('P-');
          const groups = isP
            ? {
                unlockedUnstaked: holdings.unlocked(owner, sec),
                unlockedStaked: holdings.staked(owner, sec),
                lockedStakeable: holdings.lockedStakeable(owner, sec),
                atomicMemoryUnlocked: holdings.atomic(owner, 0, sec),
              }
            : { unlocked: holdings.onX(owner, sec), atomicMemoryUnlocked: holdings.atomic(owner, 1, sec) };
          const about = { day: dayOf(day), blockchain_id: isP ? 'p-chain' : 'x-chain', address };
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
            ...Object.entries(groups).flatMap(([group, held]) =>
              held.map(({ asset, amount, sharedWithChainId }) => ({
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

    native_balances_over_time: (asked) => {
      const { evm } = this.#world.sandbox;
      return asked.dayEnds().flatMap(({ day, look }) =>
        this.#world.recorder.config.watch.evmAddresses.flatMap(({ chain, address }) => {
          const network = evm.get(chain);
          if (!network || chain !== (asked.given('chain_id') ?? chain)) return [];
          if (address !== (asked.given('address') ?? address).toLowerCase()) return [];
          const account = network.account(address) ?? -1;
          const whole = between(
            network.seed,
            1,
            90_000,
            account,
            network.countUntil(account, look / SECOND),
            21,
          );
          const balance = BigInt(`${whole}123456789012345678`);
          const usd = String(price(network, 'usd', look / SECOND));
          const isOfDay = look >= day;
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

    validator_uptime_seen: (asked) => {
      const { network, nodes } = this.#world.sandbox;
      const viewers = NODES.map((name) => nodes.find((node) => node.name === name)).filter((node) => !!node);
      const wanted = asked.given('node_id');
      const mine = wanted === undefined ? viewers.map(({ identity }) => identity.nodeId) : [wanted];
      const threshold = asked.given('threshold') ?? '80';
      return mine.flatMap((nodeId) =>
        viewers.flatMap((viewer) => {
          const readings = asked.looks
            .filter((look) => look >= asked.from && look < asked.to)
            .flatMap((look) => {
              const stake = asked.validators(look).find(({ node }) => node.nodeId === nodeId);
              const seat = network.validators.node(nodeId)?.seat ?? -1;
              const uptime = units(observedUptime(viewer, seat, look / SECOND).toFixed(4), 4);
              return stake
                ? [{ look, stake, uptime, connected: isConnected(viewer, seat, look / SECOND) }]
                : [];
            });
          const last = readings.at(-1);
          if (!last) return [];
          const [start, end] = [last.stake.start, last.stake.end];
          const needed = units(threshold, 4);
          const left =
            BigInt(end - start) * (1_000_000n - needed) -
            BigInt(last.look / SECOND - start) * (1_000_000n - last.uptime);
          return [
            {
              node_id: nodeId,
              seen_by: viewer.name,
              is_own_view: viewer.identity.nodeId === nodeId,
              readings: String(readings.length),
              lowest: scaled(lowest(readings.map(({ uptime }) => uptime)), 4),
              uptime: scaled(last.uptime, 4),
              observed_at: iso(last.look),
              connected_share: quotient(
                BigInt(readings.filter(({ connected }) => connected).length),
                BigInt(readings.length),
                9,
              ),
              threshold: plain(threshold),
              is_enough: last.uptime >= needed,
              end_time: iso(end * SECOND),
              downtime_left_minutes: String(floored(left, 60_000_000n)),
            },
          ];
        }),
      );
    },

    uptime_by_stake: (asked) => {
      const node = asked.node('validator-1');
      return asked.days().map((day) => {
        const seen = asked.looks.filter((look) => look >= day && look < asked.endOf(day));
        const rewarding = seen.map((look) =>
          units((97 + 3 * unit(node.seed, Math.floor(look / 600_000), 77)).toFixed(4), 4),
        );
        const average = seen.map((look) =>
          units(
            (
              99 +
              unit(node.seed, Math.floor(look / 60_000), 78) -
              between(node.seed, 0, 3, Math.floor(look / DAY), 79) / 10
            ).toFixed(4),
            4,
          ),
        );
        return {
          day: dayOf(day),
          node: node.name,
          readings: String(seen.length),
          lowest_rewarding_stake: scaled(lowest(rewarding), 4),
          last_rewarding_stake: scaled(rewarding.at(-1) ?? 0n, 4),
          average_uptime: quotient(
            average.reduce((a, b) => a + b, 0n),
            BigInt(seen.length) * 10_000n,
            4,
          ),
        };
      });
    },

    node_versions: (asked) =>
      NODES.flatMap((name) => {
        const node = asked.node(name);
        const periods: { version: string; since: number; until: number | null }[] = [];
        for (const look of asked.looks) {
          const version = release(node, look / SECOND);
          const last = periods.at(-1);
          if (last?.version === version) continue;
          if (last) last.until = look;
          periods.push({ version, since: look, until: null });
        }
        return periods
          .filter(({ since, until }) => since < asked.to && (until === null || until > asked.from))
          .map(({ version, since, until }) => ({
            node: name,
            version: `avalanchego/${version}`,
            rpc_protocol_version: version.startsWith('1.14') ? '44' : '42',
            since: iso(since),
            until: until === null ? null : iso(until),
          }));
      }),

    peer_versions: (asked) =>
      asked.dayEnds().flatMap(({ day, look }) =>
        NODES.filter((name) => name === (asked.given('seen_by') ?? name)).flatMap((name) => {
          const node = asked.node(name);
          const sec = look / SECOND;
          const stakes = asked.validators(look);
          const peers = node.network.validators.nodes
            .filter(({ seat }) => seat !== node.identity.seat && isConnected(node, seat, sec))
            .map((peer) => ({
              version: `avalanchego/${release(node, sec, peer.seat)}`,
              stake: stakes
                .filter((stake) => stake.node.nodeId === peer.nodeId)
                .reduce((sum, stake) => sum + stake.weight + delegated(stake, look), 0n),
            }));
          const total = peers.reduce((sum, { stake }) => sum + stake, 0n);
          return [...new Set(peers.map(({ version }) => version))].map((version) => {
            const own = peers.filter((peer) => peer.version === version);
            const stake = own.reduce((sum, one) => sum + one.stake, 0n);
            return {
              day: dayOf(day),
              seen_by: name,
              version,
              peers: String(own.length),
              share_of_peers: quotient(BigInt(own.length), BigInt(peers.length), 9),
              ...inAvax('stake', stake),
              share_of_stake: quotient(stake, total, 9),
            };
          });
        }),
      ),

    fees_over_time: (asked) =>
      NODES.flatMap((node) =>
        Object.entries({
          tx_fee: 1_000_000n,
          create_asset_tx_fee: 10_000_000n,
          create_subnet_tx_fee: 1_000_000_000n,
          transform_subnet_tx_fee: 10_000_000_000n,
          create_blockchain_tx_fee: 1_000_000_000n,
          add_primary_network_validator_fee: 0n,
          add_primary_network_delegator_fee: 0n,
          add_subnet_validator_fee: 1_000_000n,
          add_subnet_delegator_fee: 1_000_000n,
          x_tx_fee: 1_000_000n,
          x_create_asset_tx_fee: 10_000_000n,
        }).map(([fee, amount]) => ({
          node,
          fee,
          ...inAvax('amount', amount),
          since: iso(asked.looks[0] ?? 0),
          until: null,
        })),
      ),

    supply_over_time: (asked) => {
      const { network } = this.#world.sandbox;
      const chain = network.chain('p-chain');
      if (!chain) return [];
      const blocks = network.blocks(chain);
      const supply = (look: number) => BigInt(blocks.supply(look / SECOND));
      return asked.dayEnds().map(({ day, look }) => {
        const before = asked.looks.filter((one) => one < day).at(-1);
        const change = before === undefined ? null : supply(look) - supply(before);
        return {
          day: dayOf(day),
          ...inAvax('supply', supply(look)),
          change: change === null ? null : String(change),
          change_avax: change === null ? null : avax(change),
          height: String(blocks.heightAt(look / SECOND)),
          observed_at: iso(look),
        };
      });
    },

    recording_freshness: (asked) =>
      this.#world.recorder.feeds.flatMap(({ source, datasets, targets }) =>
        targets.length === 0
          ? []
          : datasets.map(({ name, every }) => {
              const refused = name === 'node_uptime_view' ? 1 : 0;
              const seconds = every / SECOND;
              const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
              return {
                dataset: name,
                targets: String(targets.length),
                recorded: String(targets.length - refused),
                late: String(source.once ? 0 : targets.length - refused),
                failing: '0',
                incomplete: '0',
                not_offered: String(refused),
                newest_success_at: iso(source.once ? (asked.looks[0] ?? 0) : asked.lastLook),
                expected_every:
                  seconds === 86_400 ? '1 day' : clock.map((part) => String(part).padStart(2, '0')).join(':'),
              };
            }),
      ),

    recording_gaps: (asked) =>
      this.#world.recorder.feeds.flatMap(({ source, datasets, targets }) =>
        datasets
          // Readings further apart than two intervals leave a hole that nobody can fill any more.
          .filter(
            ({ name, every }) =>
              !source.range && 2 * every < DAY / 2 && name === (asked.given('dataset') ?? name),
          )
          .flatMap(({ name }) =>
            targets
              .filter(({ node }) => name !== 'node_uptime_view' || node === 'validator-1')
              .flatMap((target) =>
                asked.looks.slice(1).flatMap((look, at) => {
                  const begin = Math.max((asked.looks[at] ?? 0) + 1, asked.from);
                  const end = Math.min(look, asked.to);
                  if (begin >= end) return [];
                  return [
                    {
                      dataset: name,
                      target: Object.entries(target)
                        .sort()
                        .map((pair) => pair.join('='))
                        .join(' '),
                      range_start: iso(begin),
                      range_end: iso(end),
                      seconds: quotient(BigInt(end - begin), 1000n, 3),
                      reason: 'not observed: the recorder did not run',
                    },
                  ];
                }),
              ),
          ),
      ),
  };
}

/** A value of a point that was seen, from one look to another. */
interface Seen {
  readonly value: string;
  readonly since: number;
  until: number | null;
}

/** A question's values, and the model at the looks that were made until the moment asked for. */
class Asked {
  readonly #world: World;
  readonly #values: Values;
  readonly asOf: number;
  readonly looks: readonly number[];

  constructor(world: World, values: Values) {
    this.#world = world;
    this.#values = values;
    this.asOf = this.#moment('as_of') ?? Date.now();
    this.looks = world.looks.filter((look) => look <= this.asOf);
  }

  get from(): number {
    return this.#moment('from') ?? 0;
  }

  get to(): number {
    return Math.min(this.#moment('to') ?? Number.POSITIVE_INFINITY, this.asOf);
  }

  get lastLook(): number {
    return this.looks.at(-1) ?? 0;
  }

  #moment(name: string): number | undefined {
    const text = this.#values[name];
    return text === undefined ? undefined : (instantIn(text) ?? undefined);
  }

  given(name: string): string | undefined {
    return this.#values[name];
  }

  text(name: string): string {
    return this.#values[name] ?? '';
  }

  node(name: string): SimulatedNode {
    const found = this.#world.sandbox.nodes.find((node) => node.name === name);
    if (!found) throw new Error(`no node is called ${name}`);
    return found;
  }

  subnet(id: string): Subnet {
    const found = this.#world.sandbox.network.subnets.find(({ subnetId }) => subnetId === id);
    if (!found) throw new Error(`no subnet ${id}`);
    return found;
  }

  /** The days of the window, each by its begin. */
  days(): number[] {
    const found: number[] = [];
    for (let day = this.from; day < this.to; day += DAY) found.push(day);
    return found;
  }

  /** Where a day ends, in the window. */
  endOf(day: number): number {
    return Math.min(day + DAY, this.to);
  }

  /** The days with the last look before each ends. */
  dayEnds(): { day: number; look: number }[] {
    return this.days().flatMap((day) => {
      const look = this.looks.filter((one) => one < this.endOf(day)).at(-1);
      return look === undefined ? [] : [{ day, look }];
    });
  }

  validators(look: number): ValidatorStake[] {
    return this.#world.sandbox.network.validators.current(look / SECOND);
  }

  /** The delegations to watched validators, or to the one asked for. */
  watchedDelegations(look: number): Stake[] {
    const { nodeIds } = this.#world.sandbox.watch;
    return this.validators(look)
      .filter(
        ({ node }) => nodeIds.includes(node.nodeId) && node.nodeId === (this.given('node_id') ?? node.nodeId),
      )
      .flatMap((stake) => delegations(stake, look));
  }

  l1Members(look: number) {
    const { network } = this.#world.sandbox;
    const { subnets } = this.#world.recorder.config.watch;
    return network.subnets
      .filter(
        ({ subnetId }) => subnets.includes(subnetId) && subnetId === (this.given('subnet_id') ?? subnetId),
      )
      .flatMap((subnet) => currentMembers(subnet, look / SECOND).map((member) => ({ subnet, member })))
      .filter(({ member }) => member.l1);
  }

  /** Who came between two looks, and who went, as rows with when that was seen. */
  movements<M extends { readonly key: string }>(
    members: (look: number) => readonly M[],
    row: (member: M) => Row,
    withExpiry = true,
  ): Row[] {
    return this.looks.slice(1).flatMap((look, at) => {
      if (look < this.from || look >= this.to) return [];
      const [before, now] = [members(this.looks[at] ?? 0), members(look)];
      const missing = (from: readonly M[], among: readonly M[]) =>
        from.filter(({ key }) => !among.some((other) => other.key === key));
      const told = (member: M, change: string) => {
        const about = row(member);
        const ended = about.end_time === null ? null : Date.parse(String(about.end_time)) <= look;
        return {
          at: iso(look),
          change,
          ...about,
          ...(withExpiry ? { expired: change === 'joined' ? null : ended } : {}),
        };
      };
      return [
        ...missing(now, before).map((member) => told(member, 'joined')),
        ...missing(before, now).map((member) => told(member, 'left')),
      ];
    });
  }

  /** Points in a window as they are answered at the last look. */
  points(chain: string, metric: string, interval: Interval, from: number, to: number, look = this.lastLook) {
    const name = METRICS.find((one) => one === metric);
    if (!name) throw new Error(`no metric is called ${metric}`);
    const range = { from: from / SECOND, to: to / SECOND - 1, limit: Number.POSITIVE_INFINITY };
    return this.#world.sandbox.metrics
      .points(chain, name, interval, range, look / SECOND)
      .map(([start, value]) => ({ start: start * SECOND, value: plain(String(value)) }));
  }

  /** Every value that each point of the window had, in time order. */
  metric(chain: string): Map<number, Seen[]> {
    const intervals = ['hour', 'day', 'week', 'month'] as const;
    const interval = intervals.find((one) => one === (this.given('time_interval') ?? 'day')) ?? 'day';
    const seen = new Map<number, Seen[]>();
    for (const look of this.looks) {
      const to = this.#moment('to') ?? 0;
      const now = new Map(
        this.points(chain, this.text('metric'), interval, this.from, to, look).map(({ start, value }) => [
          start,
          value,
        ]),
      );
      for (const start of new Set([...seen.keys(), ...now.keys()])) {
        const values = seen.get(start) ?? [];
        seen.set(start, values);
        const last = values.at(-1);
        const value = now.get(start);
        if (last?.until === null && last.value === value) continue;
        if (last?.until === null) last.until = look;
        if (value !== undefined) values.push({ value, since: look, until: null });
      }
    }
    return seen;
  }

  /** A metric of each chain over the whole window; null: it has no sum. */
  totals(chains: readonly string[]) {
    const metric = this.text('metric');
    const interval = this.given('time_interval') === 'month' ? 'month' : 'day';
    const all = chains.map((chain) => ({
      chain,
      points: this.points(chain, metric, interval, this.from, this.#moment('to') ?? 0),
    }));
    if (/^(active|avg)/.test(metric) && all.some(({ points }) => points.length > 1)) return null;
    return all.map(({ chain, points }) => {
      const counted = metric.startsWith('cumulative') ? points.slice(0, 1) : points;
      return {
        chain,
        buckets: points.length,
        value: counted.reduce((sum, { value }) => sum + units(value, 9), 0n),
        first: points.at(-1)?.start ?? 0,
        last: points[0]?.start ?? 0,
      };
    });
  }

  /** The rewards that the service lists for what is watched (chain data seed 4.10). */
  rewards(look: number) {
    const { network, watch } = this.#world.sandbox;
    const owners = network.accounts.among(watch.addresses);
    const isPending = ({ start, end }: Stake) => start <= look / SECOND && look / SECOND < end + LINGERS;
    return network.validators.stakes
      .flat()
      .flatMap((stake) => [
        { stake, type: 'VALIDATOR', owner: stake.owner, amount: stake.potentialReward },
        ...stake.delegations.flatMap((delegation) => {
          const tenths = BigInt(Math.round(stake.feePercent * 10));
          const fee = (delegation.potentialReward * tenths) / 1000n;
          const rest = delegation.potentialReward - fee;
          return [
            { stake: delegation, type: 'DELEGATOR', owner: delegation.owner, amount: rest },
            { stake: delegation, type: 'VALIDATOR_FEE', owner: stake.owner, amount: fee },
          ];
        }),
      ])
      .filter(({ stake }) => isPending(stake))
      .filter(({ stake, owner }) => owners.includes(owner) || watch.nodeIds.includes(stake.node.nodeId));
  }

  /** The rewards whose stakes ended in the window, at the price that was last read before. */
  paid() {
    const network = this.#world.sandbox.evm.get('43114');
    if (!network) throw new Error('there is no C-chain');
    const known = new Map(
      this.looks.flatMap((look) =>
        this.rewards(look).map((reward) => [`${reward.stake.txId} ${reward.type}`, reward] as const),
      ),
    );
    return [...known.values()].flatMap((reward) => {
      const at = reward.stake.end * SECOND;
      if (at < this.from || at >= this.to) return [];
      const read = this.looks.filter((look) => look <= at && look > at - DAY).at(-1);
      const hasPrice = read !== undefined && (this.given('currency') ?? 'usd') === 'usd';
      const each = hasPrice ? plain(String(price(network, 'usd', read / SECOND))) : null;
      return [{ ...reward, at, price: each, priceAt: hasPrice ? read : null }];
    });
  }
}

const delegations = (stake: ValidatorStake, look: number): Stake[] =>
  stake.delegations.filter((one) => holds(one, look / SECOND));

const delegated = (stake: ValidatorStake | undefined, look: number): bigint =>
  stake ? delegations(stake, look).reduce((sum, { weight }) => sum + weight, 0n) : 0n;

const span = ({ start, end }: Stake) => ({
  start_time: iso(start * SECOND),
  end_time: iso(end * SECOND),
});

const inAvax = (name: string, amount: bigint): Row => ({
  [name]: String(amount),
  [`${name}_avax`]: avax(amount),
});

/** A quotient, rounded down. */
function floored(a: bigint, b: bigint): bigint {
  return a >= 0n ? a / b : -((-a + b - 1n) / b);
}

const lowest = (values: readonly bigint[]) => [...values].sort((a, b) => (a < b ? -1 : 1))[0] ?? 0n;
