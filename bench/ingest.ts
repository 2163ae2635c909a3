import type postgres from 'postgres';
import type { Arena, Run } from './arena.ts';
import { median } from './median.ts';
import type { Options } from './options.ts';

/** The contenders for the same blocks: the recorder, the two unavoidable costs, and the plain loop. */
export const CONTENDERS = ['ingest', 'fetching', 'copying', 'drizzleLoop'] as const;
export type ContenderName = (typeof CONTENDERS)[number];

/** Results of the rounds. */
export interface IngestResult {
  readonly rows: number;
  /** Milliseconds of each round. */
  readonly rounds: Readonly<Record<ContenderName, readonly number[]>>;
  /** Medians of the rounds, in ms. */
  readonly medians: Readonly<Record<ContenderName, number>>;
  /** Ingest's time over the slower of fetching alone and COPY alone. */
  readonly overWire: number;
  /** The Drizzle loop's time over ingest's. */
  readonly overLoop: number;
  /** Maximum memory of the recorder's process, in bytes. */
  readonly peakRss: number;
}

/**
 * Lets the contenders write all blocks into an empty table, alternately: other load on the machine affects all of them.
 */
export async function measureIngest(
  { sql, open }: Arena,
  { rows, rounds }: Options,
  onRun: (round: number, contender: ContenderName, run: Run) => void,
): Promise<IngestResult> {
  const runners = {
    ingest: await open('ingest'),
    fetching: await open('fetching'),
    copying: await open('copying'),
    drizzleLoop: await open('drizzleLoop'),
  };
  const times: Record<ContenderName, number[]> = { ingest: [], fetching: [], copying: [], drizzleLoop: [] };
  let peakRss = 0;
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < CONTENDERS.length; turn++) {
      const name = CONTENDERS[(round + turn) % CONTENDERS.length] ?? 'ingest';
      await emptyTables(sql);
      const run = await runners[name]();
      const stored = name === 'fetching' ? run.rows : await storedBlocks(sql);
      if (run.rows !== rows || stored !== rows)
        throw new Error(`${name} read ${run.rows} rows and stored ${stored}, not ${rows}`);
      times[name].push(run.milliseconds);
      if (name === 'ingest') peakRss = run.peakRss;
      onRun(round + 1, name, run);
    }
  }
  const medians = {
    ingest: median(times.ingest),
    fetching: median(times.fetching),
    copying: median(times.copying),
    drizzleLoop: median(times.drizzleLoop),
  };
  return {
    rows,
    rounds: times,
    medians,
    overWire: medians.ingest / Math.max(medians.fetching, medians.copying),
    overLoop: medians.drizzleLoop / medians.ingest,
    peakRss,
  };
}

/**
 * ANALYZE on the empty tables, as autovacuum does in some rounds. A checkpoint too, so that none starts in the middle
 * of a run because of earlier work.
 */
async function emptyTables(sql: postgres.Sql): Promise<void> {
  await sql`truncate recorder.proposed_blocks, recorder.targets, recorder.target_datasets, recorder.runs, recorder.coverage`;
  await sql`analyze`;
  await sql`checkpoint`;
}

async function storedBlocks(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from recorder.proposed_blocks`;
  return row?.count ?? 0;
}
