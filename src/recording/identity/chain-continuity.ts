import type postgres from 'postgres';
import type { ChainLinks, Dataset, Target, UpstreamClient } from '../../datasets/contract.ts';
import { getMember } from '../../datasets/sources/answer.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import { itemColumns } from '../histories/batch.ts';
import type { EncodedRow } from '../histories/rows.ts';

/**
 * An entry of a chain: its height, its id and the id of its parent. Null: the upstream did not send the id.
 */
export interface Link {
  readonly height: bigint;
  readonly id: string | null;
  readonly parent: string | null;
}

/**
 * Returns a function that reads the links of the rows of a dataset. Returns null if its rows form no chain.
 */
export function linkReader(dataset: Dataset): ((row: EncodedRow) => Link) | null {
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

/** Links and head that an upstream reported in one commit. */
export interface ReportedChain {
  readonly links: readonly Link[];
  /** Height of the newest entry of the upstream. Null: unknown. */
  readonly head: number | null;
}

/** Two entries that cannot belong to one chain. */
interface Break {
  readonly height: bigint;
  readonly reason: string;
}

/**
 * Verifies that reported entries continue the recorded chain. The parent of each new entry must be an entry
 * one height below, if both are known. The id of a recorded height must not change, and the chain must not
 * get shorter.
 * @param client the upstream, which is queried for the height of the fork
 * @throws UpstreamFailure (identity) with both ids if the reported entries belong to another chain, or if the
 * newest one is below the recorded one
 */
export async function verifyChain(
  sql: postgres.Sql,
  client: UpstreamClient,
  dataset: Dataset,
  target: Target,
  { links, head }: ReportedChain,
): Promise<void> {
  const { chain } = dataset;
  if (!chain || (links.length === 0 && head === null)) return;
  const recorded = await recordedLinks(sql, dataset, chain, target, neighbours(links));
  const found = firstBreak(links, recorded);
  if (found) {
    const from = await forkHeight(sql, client, dataset, chain, target, found.height).catch(() => null);
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

/**
 * Returns the first new entry that contradicts the entries at its height or one height below or above.
 * Returns null if there is none.
 */
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

/** Returns a lookup of the entries of a height. A height with a conflict has several entries. */
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
 * Returns an error text if the parent of an entry is none of the entries below it. An entry without an id may
 * be any parent.
 * @param recorded recorded entries of the same height
 * @param below entries one height below; empty if they are not recorded or were quarantined
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

/**
 * Returns an error text if the height of an entry is recorded with another id. A recorded entry without an id
 * may be the same one.
 */
function idBreak({ height, id }: Link, recorded: readonly Link[]): string | null {
  const [first] = recorded;
  if (id === null || !first || recorded.some((entry) => entry.id === null || entry.id === id)) return null;
  return `block ${height} is ${id}, and ${first.id} is recorded at this height`;
}

/**
 * Returns an error text if the height of an entry is not recorded and the recorded entries above it have
 * another parent.
 */
function childBreak({ height, id }: Link, same: readonly Link[], above: readonly Link[]): string | null {
  const [first] = above;
  if (!first || same.some((entry) => entry.id === null)) return null;
  if (above.some(({ parent }) => parent === null || same.some((entry) => entry.id === parent))) return null;
  return `block ${height} is ${id}, and the parent of block ${height + 1n} is ${first.parent}`;
}

/** SQL: the current rows of the chain of a target. */
function chainRowsSql(sql: postgres.Sql, dataset: Dataset, target: Target) {
  return sql`from recorder.${sql(dataset.name)} where valid_to is null and ${targetRowsSql(sql, dataset, target)}`;
}

/** SQL: condition that a row belongs to the target. */
function targetRowsSql(sql: postgres.Sql, { request, columns }: Dataset, target: Target) {
  const scope = request.map((key, at) => sql`${sql(columns[at]?.name ?? key)} = ${target[key] ?? ''}`);
  return scope.reduce((one, other) => sql`${one} and ${other}`);
}

/** Returns the heights of the links, and the heights below and above each. */
const neighbours = (links: readonly Link[]) =>
  new Set(links.flatMap(({ height }) => [height - 1n, height, height + 1n]));

/**
 * Returns the recorded entries of some heights, including superseded versions, because each version of a
 * conflict counts.
 */
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
    where ${targetRowsSql(sql, dataset, target)} and ${sql(height)} = any(${[...heights].map(String)}::numeric[])`;
  // Current rows and superseded versions have separate indexes.
  const found = await sql<{ height: string; id: string | null; parent: string | null }[]>`
    ${rows} and valid_to is null union all ${rows} and valid_to is not null`;
  return found.map((row) => ({ ...row, height: BigInt(row.height) }));
}

async function newestRecorded(
  sql: postgres.Sql,
  dataset: Dataset,
  { height }: ChainLinks,
  target: Target,
): Promise<bigint | null> {
  const [row] = await sql<{ newest: string | null }[]>`
    select max(${sql(height)}) as newest ${chainRowsSql(sql, dataset, target)}`;
  return row?.newest == null ? null : BigInt(row.newest);
}

/**
 * Returns the lowest recorded height at which the upstream has another entry, by bisection over the recorded
 * heights. Returns null if the upstream cannot return single entries. Returns `upTo` if no recorded entry
 * differs.
 */
async function forkHeight(
  sql: postgres.Sql,
  client: UpstreamClient,
  dataset: Dataset,
  chain: ChainLinks,
  target: Target,
  upTo: bigint,
): Promise<bigint | null> {
  const { height, id, entryAt } = chain;
  // Single entries are requested by a number, which is exact up to this limit.
  if (!entryAt || upTo > Number.MAX_SAFE_INTEGER) return null;
  const known = sql`${chainRowsSql(sql, dataset, target)} and ${sql(id)} is not null and ${sql(height)} <= ${String(upTo)}`;
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
    const served = getMember(await entryAt(client, target, Number(entry)), 'id');
    const recorded = await recordedLinks(sql, dataset, chain, target, new Set([entry]));
    if (recorded.some((one) => one.id === served)) same = middle;
    else [differs, found] = [middle, entry];
  }
  return found ?? upTo;
}
