import type postgres from 'postgres';
import type { Ask, ChainLinks, Dataset, Target } from '../../datasets/contract.ts';
import { memberOf } from '../../datasets/sources/answer.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import { itemColumns } from '../histories/batch.ts';
import type { Row } from '../histories/rows.ts';

/** One entry of a chain: its height, its id and the id of its parent; null: the upstream did not send the id. */
export interface Link {
  readonly height: bigint;
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
    height: BigInt(row[height ?? -1] ?? ''),
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
  readonly height: bigint;
  readonly reason: string;
}

/**
 * Compares what an upstream reported with what is recorded of the same chain: the parent of each new entry has to be an entry one height
 * below, where both are known, the id of a recorded height does not change, and a chain does not get shorter.
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
  const recorded = await recordedLinks(sql, dataset, chain, target, neighbours(links));
  const found = firstBreak(links, recorded);
  if (found) {
    const from = await forkHeight(sql, ask, dataset, chain, target, found.height).catch(() => null);
    throw new UpstreamFailure(
      'identity',
      `another chain: ${found.reason}${from === null ? '' : `; the chains differ from height ${from} on`}`,
    );
  }
  if (head === null) return;
  const newest = await newestRecorded(sql, dataset, chain, target);
  if (newest !== null && BigInt(head) < newest)
    throw new UpstreamFailure(
      'identity',
      `another chain, or an older state of it: the newest block is ${head}, and blocks are recorded up to ${newest}`,
    );
}

/** The first new entry that cannot belong to the chain of the entries one height below and above; null: all fit together. */
function firstBreak(links: readonly Link[], recorded: readonly Link[]): Break | null {
  const recordedAt = byHeight(recorded);
  const knownAt = byHeight([...recorded, ...links]);
  for (const link of links.toSorted((one, other) => (one.height < other.height ? -1 : 1))) {
    const before = recordedAt(link.height);
    if (before.some(({ id, parent }) => id === link.id && parent === link.parent)) continue;
    const found =
      parentBreak(link, before, knownAt(link.height - 1n)) ??
      idBreak(link, before) ??
      (before.length === 0 ? childBreak(link, knownAt(link.height), recordedAt(link.height + 1n)) : null);
    if (found) return { height: link.height, reason: found };
  }
  return null;
}

/** The entries of a height. A height with a conflict has several. */
function byHeight(links: readonly Link[]): (height: bigint) => readonly Link[] {
  const all = new Map<bigint, Link[]>();
  for (const link of links) {
    const same = all.get(link.height);
    if (same) same.push(link);
    else all.set(link.height, [link]);
  }
  return (height) => all.get(height) ?? [];
}

/**
 * Reports an entry whose parent is none of the entries below it. An entry without an id may be any parent.
 * @param recorded the recorded entries of the same height
 * @param below the entries one height below: none if they are not recorded or were quarantined
 */
function parentBreak(
  { height, id, parent }: Link,
  recorded: readonly Link[],
  below: readonly Link[],
): string | null {
  const [first] = below;
  if (parent === null || !first || below.some((entry) => entry.id === null || entry.id === parent))
    return null;
  const parents = `the parent of block ${height} is ${parent}, and block ${height - 1n} is ${first.id}`;
  const other = recorded.find((entry) => entry.id !== null && entry.id !== id);
  return other ? `block ${height} is ${id}, and ${other.id} is recorded at this height; ${parents}` : parents;
}

/** Reports an entry whose height has another id. A recorded entry without an id may be the same one. */
function idBreak({ height, id }: Link, recorded: readonly Link[]): string | null {
  const [first] = recorded;
  if (id === null || !first || recorded.some((entry) => entry.id === null || entry.id === id)) return null;
  return `block ${height} is ${id}, and ${first.id} is recorded at this height`;
}

/** Reports an entry of a height that is not recorded, if the recorded entries above it have another parent. */
function childBreak({ height, id }: Link, same: readonly Link[], above: readonly Link[]): string | null {
  const [first] = above;
  if (!first || same.some((entry) => entry.id === null)) return null;
  if (above.some(({ parent }) => parent === null || same.some((entry) => entry.id === parent))) return null;
  return `block ${height} is ${id}, and the parent of block ${height + 1n} is ${first.parent}`;
}

/** SQL: the rows of the chain that a target is about, without their versions. */
function ofChain(sql: postgres.Sql, dataset: Dataset, target: Target) {
  return sql`from recorder.${sql(dataset.name)} where superseded_at is null and ${ofTarget(sql, dataset, target)}`;
}

/** SQL: a row is of the target. */
function ofTarget(sql: postgres.Sql, { request, columns }: Dataset, target: Target) {
  const scope = request.map((key, at) => sql`${sql(columns[at]?.name ?? key)} = ${target[key] ?? ''}`);
  return scope.reduce((one, other) => sql`${one} and ${other}`);
}

/** The heights of some links, and those below and above. */
const neighbours = (links: readonly Link[]) =>
  new Set(links.flatMap(({ height }) => [height - 1n, height, height + 1n]));

/** The recorded entries of some heights, with all their versions: each of a conflict is one. */
async function recordedLinks(
  sql: postgres.Sql,
  dataset: Dataset,
  { height, id, parent }: ChainLinks,
  target: Target,
  heights: ReadonlySet<bigint>,
): Promise<Link[]> {
  if (heights.size === 0) return [];
  const rows = sql`
    select ${sql(height)} as height, ${sql(id)} as id, ${sql(parent)} as parent from recorder.${sql(dataset.name)}
    where ${ofTarget(sql, dataset, target)} and ${sql(height)} = any(${[...heights].map(String)}::numeric[])`;
  // Current rows and versions have an index each.
  const found = await sql<{ height: string; id: string | null; parent: string | null }[]>`
    ${rows} and superseded_at is null union all ${rows} and superseded_at is not null`;
  return found.map((row) => ({ ...row, height: BigInt(row.height) }));
}

async function newestRecorded(
  sql: postgres.Sql,
  dataset: Dataset,
  { height }: ChainLinks,
  target: Target,
): Promise<bigint | null> {
  const [row] = await sql<{ newest: string | null }[]>`
    select max(${sql(height)}) as newest ${ofChain(sql, dataset, target)}`;
  return row?.newest == null ? null : BigInt(row.newest);
}

/**
 * The lowest recorded height at which the upstream has another entry, by bisection over the recorded heights.
 * @returns null if the upstream does not serve single entries, or none of the recorded ones differs
 */
async function forkHeight(
  sql: postgres.Sql,
  ask: Ask,
  dataset: Dataset,
  chain: ChainLinks,
  target: Target,
  upTo: bigint,
): Promise<bigint | null> {
  const { height, id, entryAt } = chain;
  // Single entries are requested by a number, which is exact up to here.
  if (!entryAt || upTo > Number.MAX_SAFE_INTEGER) return null;
  const known = sql`${ofChain(sql, dataset, target)} and ${sql(id)} is not null and ${sql(height)} <= ${String(upTo)}`;
  const recordedAt = async (offset: number) => {
    const [row] = await sql<{ height: string }[]>`
      select ${sql(height)} as height ${known} order by ${sql(height)} offset ${offset} limit 1`;
    return row && BigInt(row.height);
  };
  const [counted] = await sql<{ count: number }[]>`select count(*)::int ${known}`;
  let [same, differs] = [-1, counted?.count ?? 0];
  let found: bigint | null = null;
  while (differs - same > 1) {
    const middle = Math.floor((same + differs) / 2);
    const entry = await recordedAt(middle);
    if (entry === undefined) break;
    const served = memberOf(await entryAt(ask, target, Number(entry)), 'id');
    const recorded = await recordedLinks(sql, dataset, chain, target, new Set([entry]));
    if (recorded.some((one) => one.id === served)) same = middle;
    else [differs, found] = [middle, entry];
  }
  return found ?? upTo;
}
