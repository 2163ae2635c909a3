import type postgres from 'postgres';
import { storedHashes } from '../../chaos/stored.ts';
import { trueBlocks, type Watched } from '../../chaos/truth.ts';
import type { Sandbox } from '../../sandbox/server.ts';
import { catalog } from '../../src/datasets/catalog.ts';
import { rowsOf } from '../../src/datasets/standing.ts';
import type { FirstVersion } from './first-version.ts';
import type { Stretch } from './upgrade.ts';

/** Something that has to be so, how often it was looked at, and how often it is not so. */
export interface Finding {
  readonly what: string;
  readonly looked: number;
  readonly wrong: number;
}

/** What is told of a run that was there before, of which one that wrote rows has to be there still. */
const RUN = `row(r.run_id, r.dataset, lower(r.target), r.reason, r.status, r.started_at, r.finished_at, r.pages, r.items, r.rows_written, r.requests, r.error)`;

/** The bookkeeping of a database of the first version, to be compared once it is brought over. */
export async function bookkeepingBefore(sql: postgres.Sql) {
  const runs = await sql.unsafe<{ dataset: string; runs: number; rows: number; hash: string }[]>(`
    select dataset, count(*)::float8 as runs, count(*) filter (where rows_written > 0)::float8 as rows,
      coalesce(sum(hashtextextended(${RUN}::text, 0)::numeric) filter (where rows_written > 0), 0)::text as hash
    from reporting.runs r group by 1 order by 1`);
  const coverage = await sql<{ dataset: string; target_key: string; covered: string }[]>`
    select dataset, lower(target_key) as target_key, range_agg(covered)::text as covered from recorder.coverage group by 1, 2`;
  const gaps = await sql<{ dataset: string; target_key: string; range: string }[]>`
    select dataset, lower(target_key) as target_key, range::text from recorder.gaps`;
  const [quarantine] = await sql<
    { items: number }[]
  >`select count(*)::float8 as items from recorder.quarantine`;
  return { runs, coverage, gaps, quarantined: quarantine?.items ?? 0 };
}

/** Whether runs, coverage, gaps and the quarantine of before are there still, each once. */
export async function bookkeepingAfter(
  sql: postgres.Sql,
  before: Awaited<ReturnType<typeof bookkeepingBefore>>,
  { lastRun, until }: FirstVersion,
): Promise<Finding[]> {
  const runs = await sql.unsafe<{ dataset: string; runs: number; rows: number; hash: string }[]>(`
    select dataset, count(*)::float8 as runs, count(*) filter (where rows_written > 0)::float8 as rows,
      coalesce(sum(hashtextextended(${RUN}::text, 0)::numeric) filter (where rows_written > 0), 0)::text as hash
    from reporting.runs r where run_id <= ${lastRun} group by 1 order by 1`);
  const counted = await sql<{ dataset: string; runs: number }[]>`
    select dataset, sum(runs)::float8 as runs from recorder.run_days where starts_on < ${new Date(until)} group by 1`;
  const left = new Map(runs.map((one) => [one.dataset, one]));
  const gone = new Map(counted.map((one) => [one.dataset, one.runs]));
  const wrongRuns = before.runs.filter(({ dataset, ...was }) => {
    const is = left.get(dataset);
    return was.hash !== (is?.hash ?? '0') || was.runs !== (is?.runs ?? 0) + (gone.get(dataset) ?? 0);
  });
  const wrongCoverage = await sql`
    select from unnest(${before.coverage.map((one) => one.dataset)}::text[], ${before.coverage.map((one) => one.target_key)}::text[],
      ${before.coverage.map((one) => one.covered)}::text[]) was(dataset, target_key, covered)
    where not exists (select from recorder.coverage c where c.dataset = was.dataset and lower(c.target_key) = was.target_key
      and c.covered @> was.covered::int8multirange)`;
  const wrongGaps = await sql`
    select from unnest(${before.gaps.map((one) => one.dataset)}::text[], ${before.gaps.map((one) => one.target_key)}::text[],
      ${before.gaps.map((one) => one.range)}::text[]) was(dataset, target_key, range)
    where (select count(*) from recorder.gaps g where g.dataset = was.dataset and lower(g.target_key) = was.target_key
      and g.range && was.range::int8range) <> 1`;
  const [quarantine] = await sql<{ items: number; twice: number }[]>`
    select sum(times)::float8 as items, (count(*) - count(distinct (dataset, target_key, item, reason)))::float8 as twice
    from recorder.quarantine where id <= (select last_value from recorder.quarantine_id_seq)`;
  const lost = Math.max(0, before.quarantined - (quarantine?.items ?? 0));
  return [
    {
      what: 'runs of before, by dataset: those that wrote rows as they were, the others counted',
      looked: before.runs.length,
      wrong: wrongRuns.length,
    },
    { what: 'coverage of before, by target', looked: before.coverage.length, wrong: wrongCoverage.length },
    { what: 'gaps of before', looked: before.gaps.length, wrong: wrongGaps.length },
    {
      what: 'items in quarantine, each once and counted',
      looked: before.quarantined,
      wrong: lost + (quarantine?.twice ?? 0),
    },
  ];
}

/** Whether a table has the same thing twice at one time: of all that was recorded, before and meanwhile. */
export async function doubled(sql: postgres.Sql): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const dataset of catalog) {
    const { name, key, history, columns } = dataset;
    const parts = key.map((column) =>
      columns.find((one) => one.name === column)?.nullable
        ? `coalesce(r.${column}::text, '')`
        : `r.${column}`,
    );
    const things = parts.join(', ');
    const from = history === 'sample' ? `reporting.${name} r` : `${rowsOf(dataset)} r`;
    const overlapping = (begins: string, ends: string) =>
      `select count(*) filter (where next < ends or (ends is null and next is not null)) as wrong, count(*) as looked from (
        select ${ends} as ends, lead(${begins}) over (partition by ${things} order by ${begins}, ${ends} nulls last) as next from ${from}) v`;
    const text =
      history === 'state'
        ? overlapping('valid_from', 'valid_to')
        : history === 'series'
          ? overlapping('recorded_at', 'superseded_at')
          : `select coalesce(sum(times - 1), 0) as wrong, coalesce(sum(times), 0) as looked from (select count(*) as times from ${from}
              ${history === 'log' ? 'where superseded_at is null' : ''} group by ${things}${history === 'sample' && !key.includes('observed_at') ? ', observed_at' : ''}) t`;
    const [row] = await sql.unsafe<{ wrong: string; looked: string }[]>(text);
    if (Number(row?.looked) > 0)
      findings.push({ what: name, looked: Number(row?.looked), wrong: Number(row?.wrong) });
  }
  return findings;
}

/** Whether every run since then has just the readings in the record that it says it wrote: no more, no fewer. */
export async function readingsOfRuns(sql: postgres.Sql, { lastRun }: FirstVersion): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name } of catalog.filter(({ history }) => history === 'sample')) {
    const [row] = await sql<{ runs: number; readings: number; wrong: number }[]>`
      with wrote as (
        select run_id, rows_written from reporting.runs where dataset = ${name} and run_id > ${lastRun}
      ), found as (
        select run_id, count(*) as rows from reporting.${sql(name)} where run_id > ${lastRun} group by 1
      )
      select count(*)::int as runs, coalesce(sum(f.rows), 0)::float8 as readings,
        (count(*) filter (where coalesce(w.rows_written, 0) <> coalesce(f.rows, 0)))::int as wrong
      from wrote w full join found f using (run_id)`;
    if (row && row.runs > 0)
      findings.push({
        what: `runs that read ${name} meanwhile (${row.readings} readings)`,
        looked: row.runs,
        wrong: row.wrong,
      });
  }
  return findings;
}

/** Whether the blocks that the sandbox made are all there, each once. */
export async function blocks(
  sql: postgres.Sql,
  sandbox: Sandbox,
  watched: readonly Watched[],
): Promise<Finding> {
  const truth = [...new Set(watched.flatMap((one) => trueBlocks(sandbox, one)))];
  const stored = await storedHashes(sql, truth);
  const lost = truth.length - new Set(stored).size;
  return {
    what: 'blocks of the sandbox',
    looked: truth.length,
    wrong: lost + stored.length - new Set(stored).size,
  };
}

/** Datasets that are looked at in every poll. */
const POLLED = ['validator_uptime', 'peer_readings', 'chain_heights'];

/**
 * Whether looks come as they are planned while a process records: what is missing is told as a gap, and gaps are only where none did.
 * @param every of the polls, ms @param stretches when a process recorded
 * @returns the longest time between two looks of one process as well, ms
 */
export async function gapsBetween(
  sql: postgres.Sql,
  { lastRun, until }: FirstVersion,
  stretches: readonly Stretch[],
  every: number,
): Promise<{ readonly findings: Finding[]; readonly longest: number }> {
  const gaps = await sql<{ dataset: string; target: string; from: number; to: number }[]>`
    select dataset, target, (extract(epoch from range_start) * 1000)::float8 as from, (extract(epoch from range_end) * 1000)::float8 as to
    from reporting.gaps where range_start >= ${new Date(until)} and dataset = any(${POLLED})`;
  const looks = await sql<{ dataset: string; target: string; from: number; to: number }[]>`
    select * from (
      select dataset, target, (extract(epoch from lag(started_at) over (partition by dataset, target order by started_at)) * 1000)::float8 as from,
        (extract(epoch from started_at) * 1000)::float8 as to
      from reporting.runs where run_id > ${lastRun} and status = 'done' and dataset = any(${POLLED})) l
    where l.from is not null`;
  // Two intervals are no gap, and a run begins a little before its look.
  const apart = looks.filter(({ from, to }) => to - from > every * 2.2);
  const untold = apart.filter(
    (one) =>
      !gaps.some(
        (gap) =>
          gap.dataset === one.dataset &&
          gap.target === one.target &&
          Math.abs(gap.from - one.from) < every &&
          gap.to > one.from,
      ),
  );
  const during = ({ from, to }: Stretch) => stretches.some((one) => from >= one.from && to <= one.to);
  return {
    findings: [
      { what: 'times without a look are told as gaps', looked: apart.length, wrong: untold.length },
      { what: 'gaps are where no process recorded', looked: gaps.length, wrong: gaps.filter(during).length },
    ],
    longest: Math.max(0, ...looks.filter(during).map(({ from, to }) => to - from)),
  };
}
