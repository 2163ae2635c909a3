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
export type Answers = Readonly<Record<string, (asked: Question) => Row[] | null>>;

/** An observed value of a point, from one poll to another. */
interface Seen {
  readonly value: string;
  readonly since: number;
  until: number | null;
}

/** Parameters of a query, and the model at the polls up to the requested moment. */
export class Question {
  readonly world: World;
  readonly #values: Values;
  readonly asOf: number;
  readonly looks: readonly number[];

  constructor(world: World, values: Values) {
    this.world = world;
    this.#values = values;
    this.asOf = this.#moment('as_of') ?? Date.now();
    this.looks = world.looks.filter((look) => look <= this.asOf);
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

  get lastLook(): number {
    return this.looks.at(-1) ?? 0;
  }

  #moment(name: string): number | undefined {
    const text = this.#values[name];
    return text === undefined ? undefined : (parseInstant(text) ?? undefined);
  }

  given(name: string): string | undefined {
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
  dayEnds(): { day: number; look: number }[] {
    return this.days().flatMap((day) => {
      const look = this.looks.filter((one) => one < this.endOf(day)).at(-1);
      return look === undefined ? [] : [{ day, look }];
    });
  }

  validators(look: number): ValidatorStake[] {
    return this.world.sandbox.network.validators.current(look / SECOND);
  }

  /** The delegations to watched validators, or to the requested one. */
  watchedDelegations(look: number): Stake[] {
    const { nodeIds } = this.world.recorder.config.watch;
    return this.validators(look)
      .filter(
        ({ node }) => nodeIds.includes(node.nodeId) && node.nodeId === (this.given('node_id') ?? node.nodeId),
      )
      .flatMap((stake) => delegations(stake, look));
  }

  l1Members(look: number) {
    const { network } = this.world.sandbox;
    const { subnets } = this.world.recorder.config.watch;
    return network.subnets
      .filter(
        ({ subnetId }) => subnets.includes(subnetId) && subnetId === (this.given('subnet_id') ?? subnetId),
      )
      .flatMap((subnet) => currentMembers(subnet, look / SECOND).map((member) => ({ subnet, member })))
      .filter(({ member }) => member.l1);
  }

  /** The joins and departures between two polls, as rows with the time of the poll. */
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

  /** The points in a window at the last poll. */
  points(chain: string, metric: string, interval: Interval, from: number, to: number, look = this.lastLook) {
    const name = METRICS.find((one) => one === metric);
    if (!name) throw new Error(`no metric is called ${metric}`);
    const range = { from: from / SECOND, to: to / SECOND - 1, limit: Number.POSITIVE_INFINITY };
    return this.world.sandbox.metrics
      .points(chain, name, interval, range, look / SECOND)
      .map(([start, value]) => ({ start: start * SECOND, value: plain(String(value)) }));
  }

  /** Every value of each point in the window, in time order. */
  metric(chain: string, to = this.#moment('to') ?? 0): Map<number, Seen[]> {
    const intervals = ['hour', 'day', 'week', 'month'] as const;
    const interval = intervals.find((one) => one === (this.given('time_interval') ?? 'day')) ?? 'day';
    const seen = new Map<number, Seen[]>();
    for (const look of this.looks) {
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

  /** A metric of each chain over the complete window; null: it has no sum. */
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

  /** The listed rewards of watched targets. */
  rewards(look: number) {
    const { network } = this.world.sandbox;
    const { watch } = this.world.recorder.config;
    const watched = network.accounts.among(watch.addresses);
    const isPending = ({ start, end }: Stake) => start <= look / SECOND && look / SECOND < end + LINGERS;
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
    return new KnownRewards({ sandbox, looks: this.looks, watched, nodeIds, hasReceipts: true });
  }

  /** The rewards received in the window, at the last price before each. */
  receipts() {
    const network = this.world.sandbox.evm.get('43114');
    if (!network) throw new Error('there is no C-chain');
    return this.knownRewards()
      .receipts()
      .filter(({ at }) => at >= this.from && at < this.to)
      .map((receipt) => {
        const read = this.looks.filter((look) => look <= receipt.at && look > receipt.at - DAY).at(-1);
        const hasPrice = read !== undefined && (this.given('currency') ?? 'usd') === 'usd';
        const each = hasPrice ? plain(String(price(network, 'usd', read / SECOND))) : null;
        return { ...receipt, price: each, priceAt: hasPrice ? read : null };
      });
  }
}

export const delegations = (stake: ValidatorStake, look: number): Stake[] =>
  stake.delegations.filter((one) => holds(one, look / SECOND));

export const delegated = (stake: ValidatorStake | undefined, look: number): bigint =>
  stake ? delegations(stake, look).reduce((sum, { weight }) => sum + weight, 0n) : 0n;

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
