import { PRIMARY_NETWORK } from '../../datasets/node/current-validators.ts';
import type { DeclaredColumn, DeclaredParameter } from '../../db/declared.ts';
import { type DatasetRelations, getCatalogue } from './catalogue.ts';
import type { Relation } from './relation.ts';
import { findSeriesSource, NUMERIC_TYPES } from './series.ts';

/** The length of the period that a row of a {@link ChartSource} covers. */
export type ChartGrain = 'hour' | 'day' | 'month' | 'year';

/** Numbers over time for a chart: a dataset, or a function of `reporting` with a window as parameters. */
export interface ChartSource {
  /** The name of the dataset or function. */
  readonly name: string;
  /** The title in a list. */
  readonly title: string;
  /** The heading above the title in a list. */
  readonly heading: string;
  readonly about: string;
  /**
   * `line`: points are joined, with a gap where points are missing. `steps`: a value is valid until the next
   * value. `counts`: the amount per hour, day or month.
   */
  readonly draws: 'line' | 'steps' | 'counts';
  /** The relation with the rows. */
  readonly relation: Relation;
  /** The dataset; null for a function. */
  readonly dataset: DatasetRelations | null;
  /** The column with the time of a row: an instant, or the date of a day, month or year. */
  readonly time: DeclaredColumn;
  /** The column with the end of the row's validity; null if there is none. */
  readonly ends: string | null;
  /** The columns that can be drawn. */
  readonly values: readonly DeclaredColumn[];
  /** The columns that are drawn by default. */
  readonly usual: readonly string[];
  /** The columns that distinguish lines. */
  readonly keys: readonly DeclaredColumn[];
  /** The columns of {@link keys} that require a value. */
  readonly needed: readonly string[];
  /**
   * The dataset that lists the current members that can be drawn. Null if the targets contain all members, or
   * if no dataset lists the members.
   */
  readonly members: string | null;
  /** Values of key columns that the dataset in `members` does not have. */
  readonly memberKeys: Readonly<Record<string, string>>;
  /** Parameters of a function other than the window, the moment, the grain and the columns of its rows. */
  readonly takes: readonly DeclaredParameter[];
  /** The available grains, finest first; empty for instants. */
  readonly grains: readonly ChartGrain[];
  /** True if the data as known at a past moment can be drawn. */
  readonly past: boolean;
  /** True if rows are events, which are counted by grain. */
  readonly counted: boolean;
}

/** The declared part of a chart source. The other fields are derived from the columns and parameters. */
interface ChartDeclaration {
  readonly title: string;
  /** The columns that are drawn by default. Default: the first column that can be drawn. */
  readonly usual?: readonly string[];
  /** Style of the lines, only for functions. Default: a line. */
  readonly draws?: ChartSource['draws'];
  /** Only for functions: the grain of its rows, or the values of its parameter `by`. Default: day. */
  readonly grains?: readonly ChartGrain[];
  /** Only for logs: the columns, other than those of the request, by which events can be counted. */
  readonly by?: readonly string[];
  /** Only for readings of the members of a list: the dataset of that list. */
  readonly members?: string;
  /** Values of key columns that the dataset in `members` does not have. */
  readonly memberKeys?: Readonly<Record<string, string>>;
}

/**
 * Titles of chart sources, by heading and name. Series and readings that are not listed here can be drawn,
 * too.
 */
const CHARTS: Readonly<Record<string, Readonly<Record<string, ChartDeclaration>>>> = {
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
      title: 'Added and removed stake',
      draws: 'counts',
      usual: ['stake_in_avax', 'stake_out_avax', 'delegated_in_avax', 'delegated_out_avax'],
    },
    subnet_stake_daily: { title: 'Validators and weight of subnets', draws: 'steps', usual: ['weight'] },
    node_validators: { title: 'Stake of a validator', usual: ['stake_navax'] },
    node_validator_delegators: { title: 'Delegations to a validator', usual: ['stake_navax'] },
    pending_rewards: { title: 'Pending rewards', usual: ['estimated_reward_amount'] },
    pending_reward_progress: { title: 'Progress of pending rewards', members: 'pending_rewards' },
    validator_uptime: { title: 'Uptime of a validator, by observing node', members: 'node_validators' },
    node_reported_uptime: { title: 'Stake that supports the reward of a node' },
    peer_readings: {
      title: 'Uptime observed by peers',
      members: 'peers',
      memberKeys: { subnet_id: PRIMARY_NETWORK },
    },
    peer_versions: { title: 'Versions of peers', draws: 'steps', usual: ['peers'] },
    node_proposals: { title: 'Support for proposals', usual: ['support_weight', 'object_weight'] },
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
    p_balances: { title: 'P-chain, as reported by a node', usual: ['balance', 'unlocked'] },
    x_balances: { title: 'X-chain, as reported by a node', usual: ['balance'] },
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
    node_current_supply: { title: 'Supply of a subnet, as reported by a node', usual: ['supply'] },
    node_fees: { title: 'Fees', usual: ['tx_fee'] },
  },
  'Blocks and transactions': {
    blocks_proposed: { title: 'Blocks of validators and their share', draws: 'counts', usual: ['blocks'] },
    proposed_blocks: { title: 'Blocks by proposer', by: ['proposer_node_id'] },
    node_p_blocks: { title: 'Blocks of the P-chain' },
    node_x_blocks: { title: 'Blocks of the X-chain' },
    node_x_transactions: { title: 'Transactions of the X-chain' },
    evm_transactions: { title: 'Transactions of EVM chains' },
    native_transactions: { title: 'Transactions of EVM addresses' },
    erc1155_transfers: { title: 'ERC-1155 transfers' },
    staking_transactions: { title: 'Staking transactions', by: ['tx_type'] },
    chain_heights: { title: 'Heights of chains, as reported by a node' },
  },
  Nodes: {
    node_latency_over_time: {
      title: 'Response times',
      usual: ['p50', 'p95', 'p99'],
      grains: ['hour', 'day'],
    },
  },
};

/** Names of the parameters of functions that do not select lines. */
const GENERAL: ReadonlySet<string> = new Set(['from', 'to', 'as_of', 'by']);

/**
 * Returns all chart sources, by name.
 * @throws Error if a declared source is missing in the catalogue
 */
export function listChartSources(catalogue = getCatalogue()): ReadonlyMap<string, ChartSource> {
  const all = Object.entries(CHARTS).flatMap(([heading, ofHeading]) =>
    Object.entries(ofHeading).map(([name, one]): ChartSource => {
      const dataset = catalogue.datasets.get(name);
      const view = catalogue.views.get(name);
      const drawable = dataset ? ofDataset(dataset, one, heading) : view && ofFunction(view, one, heading);
      if (!drawable)
        throw new Error(
          `CHARTS: no relation ${name} of reporting has a time and numbers that can be drawn: correct or remove the entry`,
        );
      const unknown = drawable.usual.find(
        (column) => !drawable.values.some((value) => value.name === column),
      );
      if (unknown !== undefined)
        throw new Error(`CHARTS: ${name} has no numeric column ${unknown}: correct its default columns`);
      return drawable;
    }),
  );
  const named = new Set(all.map(({ name }) => name));
  const others = [...catalogue.datasets.values()].filter(
    ({ now, kind }) => (kind === 'series' || kind === 'sample') && !named.has(now.name),
  );
  const more = others.flatMap((dataset) => ofDataset(dataset, { title: dataset.name }, 'More') ?? []);
  return new Map([...all, ...more].map((one) => [one.name, one]));
}

/** The value that is drawn for events. */
const COUNT: DeclaredColumn = { name: 'count', type: 'bigint', comment: 'Number of events.' };

function ofDataset(
  dataset: DatasetRelations,
  { title, usual, by = [], members, memberKeys = {} }: ChartDeclaration,
  heading: string,
): ChartSource | null {
  const { about, kind, ends, request } = dataset;
  const { name } = dataset.now;
  const source = findSeriesSource(dataset);
  const time = source?.times.find((one) => one.name === source.time);
  if (!source || !time) return null;
  const counted = kind === 'log';
  const columns = (names: readonly string[]) =>
    names.flatMap((one) => source.relation.columns.find((column) => column.name === one) ?? []);
  const requestColumns = columns(request).map((one) => one.name);
  const values = counted ? [COUNT] : source.values;
  return {
    ...{ name, title, heading, about, dataset, time, values, counted, takes: [], past: true },
    draws: counted ? 'counts' : kind === 'state' ? 'steps' : 'line',
    relation: source.relation,
    ends: kind === 'state' ? ends : null,
    usual: usual ?? values.slice(0, 1).map((one) => one.name),
    keys: columns(counted ? [...requestColumns, ...by] : source.needed),
    // All members of a list can be listed at low cost; the points of all series cannot.
    needed: counted || kind === 'state' ? requestColumns : source.needed,
    grains: counted ? ['hour', 'day', 'month'] : [],
    members: members ?? null,
    memberKeys,
  };
}

function ofFunction(
  relation: Relation,
  { title, usual, draws = 'line', grains }: ChartDeclaration,
  heading: string,
) {
  const { name, about, columns, parameters } = relation;
  const [time, ...others] = columns;
  const values = others.filter(({ type }) => NUMERIC_TYPES.has(type));
  const keys = others.filter(({ type }) => type === 'text');
  const isTime = time?.type === 'date' || time?.type === 'timestamptz';
  if (!isTime || !parameters?.some((one) => one.name === 'from')) return null;
  const takes = parameters.filter(
    (one) => !GENERAL.has(one.name) && !keys.some((key) => key.name === one.name),
  );
  return {
    ...{ name, title, heading, about, draws, relation, time, values, keys, takes },
    ...{ dataset: null, ends: null, needed: [], members: null, memberKeys: {}, counted: false },
    usual: usual ?? values.slice(0, 1).map((one) => one.name),
    grains: grains ?? (['day'] as const),
    past: parameters.some((one) => one.name === 'as_of'),
  };
}

/**
 * Returns the finest grain with at most {@link MAX_GRAINS} periods in a window. Returns the coarsest grain if
 * every grain has more periods, and null if there are no grains.
 * @param width length of the window, in ms
 */
export function chooseChartGrain({ grains }: ChartSource, width: number): ChartGrain | null {
  return grains.find((one) => width / GRAIN_LENGTHS_MS[one] <= MAX_GRAINS) ?? grains.at(-1) ?? null;
}

/**
 * Returns true if a window has far more periods of a grain than fit into a chart.
 * @param width length of the window, in ms
 */
export const isTooFine = (grain: ChartGrain, width: number): boolean =>
  width / GRAIN_LENGTHS_MS[grain] > 50 * MAX_GRAINS;

/** Maximum number of periods in a chart. */
const MAX_GRAINS = 400;
const DAY = 86_400_000;
/** The length of each grain, in ms; the maximum length for months and years. */
const GRAIN_LENGTHS_MS: Readonly<Record<ChartGrain, number>> = {
  hour: DAY / 24,
  day: DAY,
  month: 31 * DAY,
  year: 366 * DAY,
};

/** Returns the start of the hour, day, month or year (UTC) that contains a moment. Both in ms since 1970. */
export function startOfGrain(moment: number, grain: ChartGrain): number {
  if (grain === 'hour' || grain === 'day')
    return Math.floor(moment / GRAIN_LENGTHS_MS[grain]) * GRAIN_LENGTHS_MS[grain];
  const at = new Date(moment);
  at.setUTCMonth(grain === 'year' ? 0 : at.getUTCMonth(), 1);
  return at.setUTCHours(0, 0, 0, 0);
}

/** Returns the end of the hour, day, month or year that starts at a moment. Both in ms since 1970. */
export function endOfGrain(begin: number, grain: ChartGrain): number {
  if (grain === 'hour' || grain === 'day') return begin + GRAIN_LENGTHS_MS[grain];
  const at = new Date(begin);
  return at.setUTCMonth(at.getUTCMonth() + (grain === 'year' ? 12 : 1));
}
