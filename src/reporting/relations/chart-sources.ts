import { PRIMARY_NETWORK } from '../../datasets/node/current-validators.ts';
import type { DeclaredColumn, DeclaredParameter } from '../../db/declared.ts';
import { catalogueOf, type ReadableDataset } from './catalogue.ts';
import type { Readable } from './readable.ts';
import { NUMBERS, seriesOf } from './series.ts';

/** How long each row of a {@link Drawable} is about. */
export type Grain = 'hour' | 'day' | 'month' | 'year';

/** Numbers over time that can be drawn: a dataset, or a function of `reporting` that takes a window. */
export interface Drawable {
  /** The name of the dataset or function. */
  readonly name: string;
  /** What it is called in a list, and under which heading. */
  readonly title: string;
  readonly heading: string;
  readonly about: string;
  /**
   * `line`: points, joined where none is missing. `steps`: a value holds until the next one. `counts`: how much there was in
   * each hour, day or month.
   */
  readonly draws: 'line' | 'steps' | 'counts';
  /** Where the rows are. */
  readonly readable: Readable;
  /** The dataset; null: a function. */
  readonly dataset: ReadableDataset | null;
  /** When the rows were so: an instant, or the date of a day, month or year. */
  readonly time: DeclaredColumn;
  /** Until when they were so; null: nothing says. */
  readonly ends: string | null;
  /** The columns that can be drawn, and those that are unless told. */
  readonly values: readonly DeclaredColumn[];
  readonly usual: readonly string[];
  /** The columns that tell one line from another, and those of them that have to be told. */
  readonly keys: readonly DeclaredColumn[];
  readonly needed: readonly string[];
  /** The dataset whose members of now can be drawn, where no target names them; null: targets name all, or nothing does. */
  readonly members: string | null;
  /** The values of keys that the list of `members` does not have. */
  readonly memberKeys: Readonly<Record<string, string>>;
  /** What a function takes beside the window, the moment, the grain and what are columns of its rows. */
  readonly takes: readonly DeclaredParameter[];
  /** What a row may be about, the finest first; none: instants. */
  readonly grains: readonly Grain[];
  /** What was known at a past moment can be drawn. */
  readonly past: boolean;
  /** Rows are events: they are counted by grain. */
  readonly counted: boolean;
}

/** What is declared of a drawable; the rest follows from its columns and parameters. */
interface Drawn {
  readonly title: string;
  /** The columns that are drawn unless told; absent: the first that can be. */
  readonly usual?: readonly string[];
  /** Of a function; absent: a line. */
  readonly draws?: Drawable['draws'];
  /** Of a function, what its rows may be about: one, or those that its parameter `by` takes; absent: day. */
  readonly grains?: readonly Grain[];
  /** Of a log, the columns by which its events can be counted beside its request. */
  readonly by?: readonly string[];
  /** Of readings of a list's members, the dataset of that list. */
  readonly members?: string;
  /** The values of keys that the list of `members` does not have. */
  readonly memberKeys?: Readonly<Record<string, string>>;
}

/** What can be drawn and what people call it, by heading and name. Points and readings that are not here are drawn, too. */
const drawn: Readonly<Record<string, Readonly<Record<string, Drawn>>>> = {
  Metrics: {
    metric_points: { title: 'Metrics of chains' },
    average_tps: { title: 'Transactions per second' },
  },
  'Stake and validators': {
    stake_daily: {
      title: 'Stake of the primary network',
      draws: 'steps',
      usual: ['stake_avax', 'delegated_avax'],
    },
    stake_flows: {
      title: 'Stake that came and went',
      draws: 'counts',
      usual: ['stake_in_avax', 'stake_out_avax', 'delegated_in_avax', 'delegated_out_avax'],
    },
    subnet_stake_daily: { title: 'Validators and weight of subnets', draws: 'steps', usual: ['weight'] },
    validators: { title: 'Stake of a validator', usual: ['stake_navax'] },
    validator_delegators: { title: 'Delegations to a validator', usual: ['stake_navax'] },
    pending_rewards: { title: 'Pending rewards', usual: ['estimated_reward_amount'] },
    pending_reward_progress: { title: 'Progress of pending rewards', members: 'pending_rewards' },
    validator_uptime: { title: 'Uptime of a validator, as a node sees it', members: 'validators' },
    node_uptime_view: { title: 'Stake that rewards a node' },
    peer_readings: {
      title: 'Uptime that peers see',
      members: 'peers',
      memberKeys: { subnet_id: PRIMARY_NETWORK },
    },
    peer_versions: { title: 'Versions of peers', draws: 'steps', usual: ['peers'] },
    network_proposals: { title: 'Support of proposals', usual: ['support_weight', 'object_weight'] },
  },
  Balances: {
    primary_balances_over_time: {
      title: 'P-, X- and C-chain by day',
      draws: 'steps',
      usual: ['tokens'],
    },
    native_balances_over_time: { title: 'EVM addresses by day', draws: 'steps', usual: ['tokens'] },
    l1_balances: { title: 'L1 validators by day', draws: 'steps', usual: ['balance_avax'] },
    primary_balances: { title: 'P-, X- and C-chain, exact', usual: ['amount'] },
    native_balances: { title: 'EVM addresses, exact', usual: ['balance'] },
    erc1155_balances: { title: 'ERC-1155 tokens', usual: ['balance'] },
    p_balances: { title: 'P-chain, as a node says', usual: ['balance', 'unlocked'] },
    x_balances: { title: 'X-chain, as a node says', usual: ['balance'] },
    native_balance_values: { title: 'Prices and values of balances' },
    income: {
      title: 'Income from staking',
      draws: 'counts',
      usual: ['tokens'],
      grains: ['day', 'month', 'year'],
    },
  },
  'Supply and fees': {
    supply_over_time: { title: 'Supply of AVAX by day', usual: ['supply_avax'] },
    current_supply: { title: 'Supply of a subnet, as a node says', usual: ['supply'] },
    network_fees: { title: 'Fees', usual: ['tx_fee'] },
  },
  'Blocks and transactions': {
    blocks_proposed: { title: 'Blocks of validators and their share', draws: 'counts', usual: ['blocks'] },
    proposed_blocks: { title: 'Blocks by proposer', by: ['proposer_node_id'] },
    p_blocks: { title: 'Blocks of the P-chain' },
    x_blocks: { title: 'Blocks of the X-chain' },
    x_transactions: { title: 'Transactions of the X-chain' },
    evm_transactions: { title: 'Transactions of EVM chains' },
    native_transactions: { title: 'Transactions of EVM addresses' },
    erc1155_transfers: { title: 'ERC-1155 transfers' },
    staking_transactions: { title: 'Staking transactions', by: ['tx_type'] },
    chain_heights: { title: 'Heights of chains, as a node says' },
  },
  Nodes: {
    node_latency_over_time: {
      title: 'Response times',
      usual: ['p50', 'p95', 'p99'],
      grains: ['hour', 'day'],
    },
  },
};

/** What a function takes that is no choice of lines. */
const GENERAL: ReadonlySet<string> = new Set(['from', 'to', 'as_of', 'by']);

/**
 * Everything that can be drawn, by name.
 * @throws Error when what is declared is not in the catalogue
 */
export function drawablesOf(catalogue = catalogueOf()): ReadonlyMap<string, Drawable> {
  const all = Object.entries(drawn).flatMap(([heading, ofHeading]) =>
    Object.entries(ofHeading).map(([name, one]): Drawable => {
      const dataset = catalogue.datasets.get(name);
      const view = catalogue.views.get(name);
      const drawable = dataset ? ofDataset(dataset, one, heading) : view && ofFunction(view, one, heading);
      if (!drawable) throw new Error(`${name}: reporting has nothing of that name that can be drawn`);
      const unknown = drawable.usual.find(
        (column) => !drawable.values.some((value) => value.name === column),
      );
      if (unknown !== undefined) throw new Error(`${name} has no numbers called ${unknown}`);
      return drawable;
    }),
  );
  const named = new Set(all.map(({ name }) => name));
  const others = [...catalogue.datasets.values()].filter(
    ({ name, kind }) => (kind === 'series' || kind === 'sample') && !named.has(name),
  );
  const more = others.flatMap((dataset) => ofDataset(dataset, { title: dataset.name }, 'More') ?? []);
  return new Map([...all, ...more].map((one) => [one.name, one]));
}

/** How many rows there were: what is drawn of events. */
const COUNT: DeclaredColumn = { name: 'count', type: 'bigint', comment: 'How many there were.' };

function ofDataset(
  dataset: ReadableDataset,
  { title, usual, by = [], members, memberKeys = {} }: Drawn,
  heading: string,
): Drawable | null {
  const { name, about, kind, ends, request } = dataset;
  const source = seriesOf(dataset);
  const time = source?.times.find((one) => one.name === source.time);
  if (!source || !time) return null;
  const counted = kind === 'log';
  const columns = (names: readonly string[]) =>
    names.flatMap((one) => source.readable.columns.find((column) => column.name === one) ?? []);
  const asked = columns(request).map((one) => one.name);
  const values = counted ? [COUNT] : source.values;
  return {
    ...{ name, title, heading, about, dataset, time, values, counted, takes: [], past: true },
    draws: counted ? 'counts' : kind === 'state' ? 'steps' : 'line',
    readable: source.readable,
    ends: kind === 'state' ? ends : null,
    usual: usual ?? values.slice(0, 1).map((one) => one.name),
    keys: columns(counted ? [...asked, ...by] : source.needed),
    // Members of a list are few enough to be found; the points of all series are not.
    needed: counted || kind === 'state' ? asked : source.needed,
    grains: counted ? ['hour', 'day', 'month'] : [],
    members: members ?? null,
    memberKeys,
  };
}

function ofFunction(readable: Readable, { title, usual, draws = 'line', grains }: Drawn, heading: string) {
  const { name, about, columns, parameters } = readable;
  const [time, ...others] = columns;
  const values = others.filter(({ type }) => NUMBERS.has(type));
  const keys = others.filter(({ type }) => type === 'text');
  const isTime = time?.type === 'date' || time?.type === 'timestamptz';
  if (!isTime || !parameters?.some((one) => one.name === 'from')) return null;
  const takes = parameters.filter(
    (one) => !GENERAL.has(one.name) && !keys.some((key) => key.name === one.name),
  );
  return {
    ...{ name, title, heading, about, draws, readable, time, values, keys, takes },
    ...{ dataset: null, ends: null, needed: [], members: null, memberKeys: {}, counted: false },
    usual: usual ?? values.slice(0, 1).map((one) => one.name),
    grains: grains ?? (['day'] as const),
    past: parameters.some((one) => one.name === 'as_of'),
  };
}

/** The one of a drawable's grains that suits a window: the finest of which there are not too many. @param width ms */
export function grainFor({ grains }: Drawable, width: number): Grain | null {
  return grains.find((one) => width / SPANS[one] <= MOST_GRAINS) ?? grains.at(-1) ?? null;
}

/** Whether a window has so many of a grain that nobody could see them. @param width ms */
export const isTooFine = (grain: Grain, width: number): boolean => width / SPANS[grain] > 50 * MOST_GRAINS;

const MOST_GRAINS = 400;
const DAY = 86_400_000;
/** How long they are, ms; of months and years the longest. */
const SPANS: Readonly<Record<Grain, number>> = { hour: DAY / 24, day: DAY, month: 31 * DAY, year: 366 * DAY };

/** The begin of the hour, day, month or year (UTC) that holds a moment. Both in ms since 1970. */
export function beginOf(moment: number, grain: Grain): number {
  if (grain === 'hour' || grain === 'day') return Math.floor(moment / SPANS[grain]) * SPANS[grain];
  const at = new Date(moment);
  at.setUTCMonth(grain === 'year' ? 0 : at.getUTCMonth(), 1);
  return at.setUTCHours(0, 0, 0, 0);
}

/** The end of an hour, day, month or year that begins at a moment. Both in ms since 1970. */
export function endOf(begin: number, grain: Grain): number {
  if (grain === 'hour' || grain === 'day') return begin + SPANS[grain];
  const at = new Date(begin);
  return at.setUTCMonth(at.getUTCMonth() + (grain === 'year' ? 12 : 1));
}
