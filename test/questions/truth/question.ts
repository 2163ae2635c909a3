import { price } from '../../../sandbox/evm/prices.ts';
import type { Interval } from '../../../sandbox/metrics/calendar.ts';
import { METRICS } from '../../../sandbox/metrics/names.ts';
import type { Account } from '../../../sandbox/network/accounts.ts';
import { holds } from '../../../sandbox/network/periods.ts';
import { expectedRewards } from '../../../sandbox/network/rewards.ts';
import { currentMembers, type Subnet } from '../../../sandbox/network/subnets.ts';
import type { Stake, ValidatorStake } from '../../../sandbox/network/validators.ts';
import type { SimulatedNode } from '../../../sandbox/node/simulated-node.ts';
import { parseInstant } from '../../../src/lib/instant.ts';
import type { Values } from '../../../src/reporting/reports/saved-queries.ts';
import { avax, plain, units } from '../decimals.ts';
import type { World } from '../world.ts';
import { KnownRewards } from './rewards.ts';

/** A row of a result: numbers are exact decimals, moments ISO texts, days `2026-03-01`. */
export type Row = Readonly<Record<string, string | boolean | null>>;

/** In ms. */
export const SECOND = 1000;
export const DAY = 86_400_000;
export const PRIMARY = '11111111111111111111111111111111LpoYY';
/** Time for which a pending reward is listed after its stake ended, s. */
const LINGERS = 3_600;

export const iso = (ms: number) => new Date(ms).toISOString();
export const dayOf = (ms: number) => iso(ms).slice(0, 10);

/** Expected results by the name of the view or function; null: the query has to be refused. */
export type Answers = Readonly<Record<string, (question: Question) => Row[] | null>>;

/** An observed value of a point, from one poll to another. */
interface ObservedValue {
  readonly value: string;
  readonly since: number;
  until: number | null;
}

/** Parameters of a query, and the model at the polls up to the requested moment. */
export class Question {
  readonly world: World;
  readonly #values: Values;
  readonly asOf: number;
  readonly polls: readonly number[];

  constructor(world: World, values: Values) {
    this.world = world;
    this.#values = values;
    this.asOf = this.#moment('as_of') ?? Date.now();
    this.polls = world.polls.filter((polledAt) => polledAt <= this.asOf);
  }

  get from(): number {
    return this.#moment('from') ?? 0;
  }

  /** The end of the window, at any moment of knowledge. */
  get windowEnd(): number {
    return this.#moment('to') ?? Number.POSITIVE_INFINITY;
  }

  get to(): number {
    return Math.min(this.#moment('to') ?? Number.POSITIVE_INFINITY, this.asOf);
  }

  get lastPoll(): number {
    return this.polls.at(-1) ?? 0;
  }

  #moment(name: string): number | undefined {
    const text = this.#values[name];
    return text === undefined ? undefined : (parseInstant(text) ?? undefined);
  }

  parameter(name: string): string | undefined {
    return this.#values[name];
  }

  text(name: string): string {
    return this.#values[name] ?? '';
  }

  node(name: string): SimulatedNode {
    const found = this.world.sandbox.nodes.find((node) => node.name === name);
    if (!found) throw new Error(`no node is called ${name}`);
    return found;
  }

  subnet(id: string): Subnet {
    const found = this.world.sandbox.network.subnets.find(({ subnetId }) => subnetId === id);
    if (!found) throw new Error(`no subnet ${id}`);
    return found;
  }

  /** The days of the window, each by its start. */
  days(): number[] {
    const found: number[] = [];
    for (let day = this.from; day < this.to; day += DAY) found.push(day);
    return found;
  }

  /** The end of a day, within the window. */
  endOf(day: number): number {
    return Math.min(day + DAY, this.to);
  }

  /** The days with the last poll before each ends. */
  dayEnds(): { day: number; polledAt: number }[] {
    return this.days().flatMap((day) => {
      const polledAt = this.polls.filter((one) => one < this.endOf(day)).at(-1);
      return polledAt === undefined ? [] : [{ day, polledAt }];
    });
  }

  validators(polledAt: number): ValidatorStake[] {
    return this.world.sandbox.network.validators.current(polledAt / SECOND);
  }

  /** The delegations to watched validators, or to the requested one. */
  watchedDelegations(polledAt: number): Stake[] {
    const { nodeIds } = this.world.recorder.config.watch;
    return this.validators(polledAt)
      .filter(
        ({ node }) =>
          nodeIds.includes(node.nodeId) && node.nodeId === (this.parameter('node_id') ?? node.nodeId),
      )
      .flatMap((stake) => delegations(stake, polledAt));
  }

  l1Members(polledAt: number) {
    const { network } = this.world.sandbox;
    const { subnets } = this.world.recorder.config.watch;
    return network.subnets
      .filter(
        ({ subnetId }) =>
          subnets.includes(subnetId) && subnetId === (this.parameter('subnet_id') ?? subnetId),
      )
      .flatMap((subnet) => currentMembers(subnet, polledAt / SECOND).map((member) => ({ subnet, member })))
      .filter(({ member }) => member.l1);
  }

  /** The joins and departures between two polls, as rows with the time of the poll. */
  movements<M extends { readonly key: string }>(
    members: (polledAt: number) => readonly M[],
    row: (member: M) => Row,
    withExpiry = true,
  ): Row[] {
    return this.polls.slice(1).flatMap((polledAt, at) => {
      if (polledAt < this.from || polledAt >= this.to) return [];
      const [before, now] = [members(this.polls[at] ?? 0), members(polledAt)];
      const missing = (from: readonly M[], among: readonly M[]) =>
        from.filter(({ key }) => !among.some((other) => other.key === key));
      const movement = (member: M, change: string) => {
        const about = row(member);
        const ended = about.end_time === null ? null : Date.parse(String(about.end_time)) <= polledAt;
        return {
          at: iso(polledAt),
          change,
          ...about,
          ...(withExpiry ? { expired: change === 'joined' ? null : ended } : {}),
        };
      };
      return [
        ...missing(now, before).map((member) => movement(member, 'joined')),
        ...missing(before, now).map((member) => movement(member, 'left')),
      ];
    });
  }

  /** The points in a window at the last poll. */
  points(
    chain: string,
    metric: string,
    interval: Interval,
    from: number,
    to: number,
    polledAt = this.lastPoll,
  ) {
    const name = METRICS.find((one) => one === metric);
    if (!name) throw new Error(`no metric is called ${metric}`);
    const range = { from: from / SECOND, to: to / SECOND - 1, limit: Number.POSITIVE_INFINITY };
    return this.world.sandbox.metrics
      .points(chain, name, interval, range, polledAt / SECOND)
      .map(([start, value]) => ({ start: start * SECOND, value: plain(String(value)) }));
  }

  /** Every value of each point in the window, in time order. */
  metric(chain: string, to = this.#moment('to') ?? 0): Map<number, ObservedValue[]> {
    const intervals = ['hour', 'day', 'week', 'month'] as const;
    const interval = intervals.find((one) => one === (this.parameter('time_interval') ?? 'day')) ?? 'day';
    const observed = new Map<number, ObservedValue[]>();
    for (const polledAt of this.polls) {
      const now = new Map(
        this.points(chain, this.text('metric'), interval, this.from, to, polledAt).map(({ start, value }) => [
          start,
          value,
        ]),
      );
      for (const start of new Set([...observed.keys(), ...now.keys()])) {
        const values = observed.get(start) ?? [];
        observed.set(start, values);
        const last = values.at(-1);
        const value = now.get(start);
        if (last?.until === null && last.value === value) continue;
        if (last?.until === null) last.until = polledAt;
        if (value !== undefined) values.push({ value, since: polledAt, until: null });
      }
    }
    return observed;
  }

  /** A metric of each chain over the complete window; null: it has no sum. */
  totals(chains: readonly string[]) {
    const metric = this.text('metric');
    const interval = this.parameter('time_interval') === 'month' ? 'month' : 'day';
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

  /** The listed rewards of watched targets. */
  rewards(polledAt: number) {
    const { network } = this.world.sandbox;
    const { watch } = this.world.recorder.config;
    const watched = network.accounts.among(watch.addresses);
    const isPending = ({ start, end }: Stake) =>
      start <= polledAt / SECOND && polledAt / SECOND < end + LINGERS;
    return network.validators.stakes
      .flat()
      .flatMap(expectedRewards)
      .filter(({ stake }) => isPending(stake))
      .filter(
        ({ stake, owners }) =>
          owners.some((owner) => watched.includes(owner)) || watch.nodeIds.includes(stake.node.nodeId),
      );
  }

  /** The rewards known at the requested moment. */
  knownRewards(): KnownRewards {
    const { sandbox, recorder } = this.world;
    const { addresses, nodeIds } = recorder.config.watch;
    const watched = sandbox.network.accounts.among(addresses);
    return new KnownRewards({ sandbox, polls: this.polls, watched, nodeIds, hasReceipts: true });
  }

  /** The rewards received in the window, at the last price before each. */
  receipts() {
    const network = this.world.sandbox.evm.get('43114');
    if (!network) throw new Error('there is no C-chain');
    return this.knownRewards()
      .receipts()
      .filter(({ at }) => at >= this.from && at < this.to)
      .map((receipt) => {
        const pricedAt = this.polls
          .filter((polledAt) => polledAt <= receipt.at && polledAt > receipt.at - DAY)
          .at(-1);
        const hasPrice = pricedAt !== undefined && (this.parameter('currency') ?? 'usd') === 'usd';
        const priceEach = hasPrice ? plain(String(price(network, 'usd', pricedAt / SECOND))) : null;
        return { ...receipt, price: priceEach, priceAt: hasPrice ? pricedAt : null };
      });
  }
}

export const delegations = (stake: ValidatorStake, polledAt: number): Stake[] =>
  stake.delegations.filter((one) => holds(one, polledAt / SECOND));

export const delegated = (stake: ValidatorStake | undefined, polledAt: number): bigint =>
  stake ? delegations(stake, polledAt).reduce((sum, { weight }) => sum + weight, 0n) : 0n;

export const ownersOf = (owners: readonly Account[], prefix = '') =>
  owners
    .map(({ address }) => `${prefix}${address}`)
    .sort()
    .join(', ');

export const span = ({ start, end }: Stake) => ({
  start_time: iso(start * SECOND),
  end_time: iso(end * SECOND),
});

export const inAvax = (name: string, amount: bigint): Row => ({
  [name]: String(amount),
  [`${name}_avax`]: avax(amount),
});

/** Returns a quotient, rounded down. */
export function floored(a: bigint, b: bigint): bigint {
  return a >= 0n ? a / b : -((-a + b - 1n) / b);
}

export const lowest = (values: readonly bigint[]) => [...values].sort((a, b) => (a < b ? -1 : 1))[0] ?? 0n;
