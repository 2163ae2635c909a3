import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import { type Dataset, OPEN_END, type Target, type Window } from '../../src/datasets/contract.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { PRIMARY_NETWORK } from '../../src/datasets/node/current-validators.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { HOURS, NEWEST_HOUR, SUBNETS, TRANSACTIONS, VALIDATORS } from '../service/list-responses.ts';

/** Lists of one kind that are read completely, one per target. */
export interface ListWork {
  readonly dataset: Dataset;
  /**
   * If all items are new, other targets in each round: a table that is emptied in between would make the recorder plan
   * again.
   */
  targets(round: number): readonly Target[];
  readonly window: Window | null;
  /** Items of all lists together. */
  readonly items: number;
  /** Whether the items are recorded already, except for one in a hundred that changed. Otherwise all are new. */
  readonly alreadyRecorded: boolean;
}

const HOUR = 3_600_000;
const newest = NEWEST_HOUR * 1000 + HOUR;
const generate = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

const fixedTargets = (count: number, make: (at: number) => Target) => {
  const all = generate(count, make);
  return () => all;
};

/**
 * The window of the metric's page: one page of points is requested. The service returns {@link HOURS} points for any
 * window.
 */
export const metricWindow: Window = { from: newest - (HOURS - 2) * HOUR, to: newest };

/**
 * With a fifth of them a round is so short that the first pages and the last commits, which nothing overlaps, are more
 * than a tenth of it.
 */
const ADDRESSES = 20;

/** The works by name. */
export const listWorks: Readonly<Record<ListName, ListWork>> = {
  metricPages: {
    dataset: metricPoints,
    targets: fixedTargets(20, (at) => ({
      chainId: `${43114 + at}`,
      metric: 'txCount',
      timeInterval: 'hour',
    })),
    window: metricWindow,
    items: 20 * HOURS,
    alreadyRecorded: true,
  },
  // Without their uptime, which is a new reading each time.
  validators: {
    dataset: validators,
    targets: fixedTargets(20, (at) => ({ node: `validator-${at + 1}`, subnetId: PRIMARY_NETWORK })),
    window: null,
    items: 20 * VALIDATORS,
    alreadyRecorded: true,
  },
  subnets: {
    dataset: subnets,
    targets: fixedTargets(10, (at) => ({ network: `made-${at}` })),
    window: null,
    items: 10 * SUBNETS,
    alreadyRecorded: true,
  },
  nativeTransactions: {
    dataset: nativeTransactions,
    targets: (round) =>
      generate(ADDRESSES, (at) => ({
        chainId: '43114',
        address: `0x${String(ADDRESSES * round + at).padStart(40, '0')}`,
      })),
    window: { from: 0, to: OPEN_END },
    items: ADDRESSES * TRANSACTIONS,
    alreadyRecorded: false,
  },
};

/** The names of the works, in the order of the table. */
export const LISTS = ['metricPages', 'validators', 'subnets', 'nativeTransactions'] as const;
export type ListName = (typeof LISTS)[number];

/** Returns the work of a setup by name. @throws Error if there is none */
export function listWork(name: string | undefined): ListWork {
  const found = LISTS.find((one) => one === name);
  if (!found) throw new Error(`there is no list ${name}`);
  return listWorks[found];
}

/** The address of the services in a round. */
export const addressIn = (serviceUrl: string, round: number) => `${serviceUrl}/round/${round}`;
