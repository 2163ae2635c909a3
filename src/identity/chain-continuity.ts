import type postgres from 'postgres';
import type { Ask, ChainLinks, Dataset, Target } from '../datasets/contract.ts';
import { memberOf } from '../datasets/sources/answer.ts';
import type { Row } from '../history/rows.ts';
import { itemColumns } from '../history/writing.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';

/** One entry of a chain: its height, its id and the id of its parent; null: the upstream did not send the id. */
export interface Link {
  readonly height: number;
  readonly id: string | null;
  readonly parent: string | null;
}

/** Reads the links of a dataset's rows; null if its rows form no chain. */
export function linkReader(dataset: Dataset): ((row: Row) => Link) | null {
  const { chain } = dataset;
  if (!chain) return null;
  const columns = itemColumns(dataset).map(({ name }) => name);
  const [height, id, parent] = [chain.height, chain.id, chain.parent].map((name) => columns.indexOf(name));
  return (row) => ({
    height: Number(row[height ?? -1]),
    id: row[id ?? -1] ?? null,
    parent: row[parent ?? -1] ?? null,
  });
}

/** What an upstream reported of its chain in one commit. */
export interface ReportedChain {
  readonly links: readonly Link[];
  /** The height of the newest entry that the upstream has; null: unknown. */
  readonly head: number | null;
}

/** Two entries that cannot belong to one chain. */
interface Break {
  readonly height: number;
  readonly reason: string;
}

/**
 * Compares what an upstream reported with what is recorded of the same chain: the parent of each entry has to be the entry before it, and a
 * chain does not get shorter.
 * @param ask the upstream, to find the height from which the chains differ
 * @throws UpstreamFailure (identity) with both ids when the reported entries belong to another chain, or the newest one is below the recorded one
 */
export async function verifyChain(
  sql: postgres.Sql,
  ask: Ask,
  dataset: Dataset,
  target: Target,
  { links, head }: ReportedChain,
): Promise<void> {
  const { chain } = dataset;
  if (!chain || (links.length === 0 && head === null)) return;
  const recorded = await recordedLinks(sql, dataset, chain, target, links);
  const found = firstBreak(chain, links, recorded);
  if (found) {
    const from = await forkHeight(sql, ask, dataset, chain, target, found.height).catch(() => null);
    throw new UpstreamFailure(
      'identity',
      `another chain: ${found.reason}${from === null ? '' : `; the chains differ from height ${from} on`}`,
    );
  }
  if (head === null) return;
  const newest = await newestRecorded(sql, dataset, chain, target);
  if (newest !== null && head < newest)
    throw new UpstreamFailure(
      'identity',
      `another chain, or an older state of it: the newest block is ${head}, and blocks are recorded up to ${newest}`,
    );
}

/** The first entry that contradicts the entries before, at or after its height; null: all fit together. */
function firstBreak(
  { isFinal }: ChainLinks,
  links: readonly Link[],
  recorded: readonly Link[],
): Break | null {
  const byHeight = new Map<number, Link[]>();
  for (const link of [...recorded, ...links])
    byHeight.set(link.height, [...(byHeight.get(link.height) ?? []), link]);
  const idsAt = (height: number) => (byHeight.get(height) ?? []).flatMap(({ id }) => id ?? []);
  for (const { height, id, parent } of links.toSorted((one, other) => one.height - other.height)) {
    const other = isFinal ? idsAt(height).find((known) => id !== null && known !== id) : undefined;
    if (other !== undefined)
      return { height, reason: `block ${height} is ${id}, and ${other} is recorded at this height` };
    const before = idsAt(height - 1);
    if (parent !== null && before.length > 0 && !before.includes(parent))
      return {
        height,
        reason: `the parent of block ${height} is ${parent}, and block ${height - 1} is ${before[0]}`,
      };
    const after = (byHeight.get(height + 1) ?? []).find((next) => next.parent !== null);
    if (id !== null && after && !idsAt(height).includes(after.parent ?? ''))
      return {
        height,
        reason: `block ${height} is ${id}, and the parent of block ${height + 1} is ${after.parent}`,
      };
  }
  return null;
}

/** SQL: the recorded rows of the chain that a target is about. */
function ofChain(sql: postgres.Sql, { name, request, columns }: Dataset, target: Target) {
  const scope = request.map((key, at) => sql`${sql(columns[at]?.name ?? key)} = ${target[key] ?? ''}`);
  const all = scope.reduce((one, other) => sql`${one} and ${other}`);
  return sql`from recorder.${sql(name)} where superseded_at is null and ${all}`;
}

async function recordedLinks(
  sql: postgres.Sql,
  dataset: Dataset,
  { height, id, parent }: ChainLinks,
  target: Target,
  links: readonly Link[],
): Promise<Link[]> {
  const heights = new Set(links.flatMap((link) => [link.height - 1, link.height, link.height + 1]));
  if (heights.size === 0) return [];
  const rows = await sql<{ height: string; id: string | null; parent: string | null }[]>`
    select ${sql(height)} as height, ${sql(id)} as id, ${sql(parent)} as parent ${ofChain(sql, dataset, target)}
    and ${sql(height)} = any(${[...heights].map(String)}::numeric[])`;
  return rows.map((row) => ({ ...row, height: Number(row.height) }));
}

async function newestRecorded(
  sql: postgres.Sql,
  dataset: Dataset,
  { height }: ChainLinks,
  target: Target,
): Promise<number | null> {
  const [row] = await sql<{ newest: string | null }[]>`
    select max(${sql(height)}) as newest ${ofChain(sql, dataset, target)}`;
  return row?.newest == null ? null : Number(row.newest);
}

/**
 * The lowest recorded height at which the upstream has another entry, by bisection over the recorded heights.
 * @returns null if the upstream does not serve single entries, or none of the recorded ones differs
 */
async function forkHeight(
  sql: postgres.Sql,
  ask: Ask,
  dataset: Dataset,
  { height, id, entryAt }: ChainLinks,
  target: Target,
  upTo: number,
): Promise<number | null> {
  if (!entryAt) return null;
  const recordedAt = async (offset: number) => {
    const [row] = await sql<{ height: string; id: string }[]>`
      select ${sql(height)} as height, ${sql(id)} as id ${ofChain(sql, dataset, target)}
      and ${sql(id)} is not null and ${sql(height)} <= ${upTo} order by ${sql(height)} offset ${offset} limit 1`;
    return row;
  };
  const [counted] = await sql<{ count: number }[]>`
    select count(*)::int ${ofChain(sql, dataset, target)} and ${sql(id)} is not null and ${sql(height)} <= ${upTo}`;
  let [same, differs] = [-1, counted?.count ?? 0];
  let found: number | null = null;
  while (differs - same > 1) {
    const middle = Math.floor((same + differs) / 2);
    const entry = await recordedAt(middle);
    if (!entry) break;
    const served = memberOf(await entryAt(ask, target, Number(entry.height)), 'id');
    if (served === entry.id) same = middle;
    else [differs, found] = [middle, Number(entry.height)];
  }
  return found ?? upTo;
}
