import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { parseMultirange } from '../src/recording/windows.ts';
import { blocksTargetKey, type WatchedBlocks } from './truth.ts';

/** The stored hashes of a target's blocks in [from, to). */
export async function storedBlocks(
  sql: postgres.Sql,
  { nodeId, blockchainId, from, to }: WatchedBlocks,
): Promise<string[]> {
  const rows = await sql<{ block_hash: string }[]>`
    select block_hash from recorder.proposed_blocks
    where blockchain_id = ${blockchainId} and proposer_node_id = ${nodeId}
      and block_timestamp >= ${new Date(from)} and block_timestamp < ${new Date(to)}`;
  return rows.map(({ block_hash }) => block_hash);
}

/** The given hashes that are stored, with any proposer. */
export async function storedHashes(sql: postgres.Sql, hashes: readonly string[]): Promise<string[]> {
  const rows = await sql<{ block_hash: string }[]>`
    select block_hash from recorder.proposed_blocks where block_hash = any(${[...hashes]})`;
  return rows.map(({ block_hash }) => block_hash);
}

/** Coverage of a target, in ms, oldest first. */
export async function covered(sql: postgres.Sql, target: Pick<WatchedBlocks, 'nodeId' | 'blockchainId'>) {
  const [row] = await sql<{ covered: string }[]>`
    select covered::text from recorder.coverage
    where dataset = 'proposed_blocks' and target_key = ${blocksTargetKey(target)}`;
  return parseMultirange(row?.covered ?? '');
}

/** Whether all of the targets are covered completely. */
export async function allCovered(sql: postgres.Sql, watched: readonly WatchedBlocks[]): Promise<boolean> {
  const rows = await sql<{ target_key: string; covered: string }[]>`
    select target_key, covered::text from recorder.coverage where dataset = 'proposed_blocks'`;
  const byKey = new Map(rows.map((row) => [row.target_key, parseMultirange(row.covered)]));
  return watched.every((one) =>
    (byKey.get(blocksTargetKey(one)) ?? []).some(({ from, to }) => from <= one.from && one.to <= to),
  );
}

/** A checksum of a set of keys, the same whatever their order. */
export function checksum(keys: Iterable<string>): string {
  let sum = 0n;
  for (const key of keys) sum += createHash('md5').update(key).digest().readBigUInt64BE();
  return (sum & 0xffff_ffff_ffff_ffffn).toString(16).padStart(16, '0');
}
