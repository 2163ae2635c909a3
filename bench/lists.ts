import type { Arena, Run } from './arena.ts';
import { LISTS, type ListName, listWorks } from './contenders/lists.ts';
import { median } from './median.ts';
import type { Options } from './options.ts';

/** The contenders for the same lists. */
const CONTENDERS = { recorder: 'listRecorder', fetching: 'listFetching', copying: 'listCopying' } as const;
type ContenderName = keyof typeof CONTENDERS;
const NAMES = ['recorder', 'fetching', 'copying'] as const satisfies readonly ContenderName[];

/** The cost of reading the lists of one kind. */
export interface ListResult {
  readonly name: ListName;
  /** Items of all lists together. */
  readonly items: number;
  readonly alreadyRecorded: boolean;
  /** Medians of the rounds, in ms. */
  readonly medians: Readonly<Record<ContenderName, number>>;
  /** The recorder's time over the slower of fetching alone and COPY alone. */
  readonly overWire: number;
  /** Maximum memory of the recorder's process, in bytes. */
  readonly peakRss: number;
}

/** A round takes two seconds or less: with three times the rounds of the blocks, the medians are as stable. */
const ROUNDS_EACH = 3;

/** Lets the contenders read each kind of lists, alternately; in each round one item in a hundred has changed. */
export async function measureLists(
  arena: Arena,
  options: Options,
  onResult: (result: ListResult) => void,
): Promise<ListResult[]> {
  await arena.sql`create schema if not exists bench`;
  const results: ListResult[] = [];
  for (const name of LISTS) {
    const result = await measureList(arena, name, options.rounds * ROUNDS_EACH);
    results.push(result);
    onResult(result);
  }
  return results;
}

async function measureList({ sql, open }: Arena, name: ListName, rounds: number): Promise<ListResult> {
  const { dataset, items, alreadyRecorded } = listWorks[name];
  const table = `recorder.${dataset.name}`;
  const copyTable = `bench.${dataset.name}`;
  await sql`create table ${sql(copyTable)} (like ${sql(table)} including all)`;
  const runners = {
    recorder: await open(CONTENDERS.recorder, name),
    fetching: await open(CONTENDERS.fetching, name),
    copying: await open(CONTENDERS.copying, name),
  };
  const times: Record<ContenderName, number[]> = { recorder: [], fetching: [], copying: [] };
  let last: Run | undefined;
  await runners.recorder(0);
  await sql`vacuum analyze ${sql(table)}`;
  for (let round = 1; round <= rounds; round++) {
    await runners.fetching(round); // creates the responses, and is not timed
    for (let turn = 0; turn < NAMES.length; turn++) {
      const contender = NAMES[(round + turn) % NAMES.length] ?? 'recorder';
      if (contender === 'copying') await sql`truncate ${sql(copyTable)}`;
      await sql`checkpoint`; // no checkpoint starts in the middle of a run
      const run = await runners[contender](round);
      if (run.rows !== items) throw new Error(`${contender} read ${run.rows} ${name}, not ${items}`);
      times[contender].push(run.milliseconds);
      if (contender === 'recorder') last = run;
    }
  }
  const medians = {
    recorder: median(times.recorder),
    fetching: median(times.fetching),
    copying: median(times.copying),
  };
  return {
    name,
    items,
    alreadyRecorded,
    medians,
    overWire: medians.recorder / Math.max(medians.fetching, medians.copying),
    peakRss: last?.peakRss ?? Number.NaN,
  };
}
