import { parseMultirange } from '../../src/recording/windows.ts';
import { storedBlocks, storedHashes } from '../stored-blocks.ts';
import { blocksTargetKey, trueBlocks, type WatchedBlocks } from '../truth.ts';
import type { World } from '../world.ts';
import type { Invariant } from './invariant.ts';

/**
 * C: rows and coverage agree: nothing is claimed that is not stored, and every item of a page is a row or quarantined.
 */
export const covered: Invariant = {
  letter: 'C',
  description: 'coverage claims what is stored, no more; items = rows + quarantined',
  check: async (world) => [...(await unfoundedClaims(world)), ...(await unaccounted(world))],
};

/** Coverage without the stored rows; can be called at any moment, also while runs continue. */
export async function unfoundedClaims(
  { sql, sandbox }: World,
  targets: readonly Pick<WatchedBlocks, 'nodeId' | 'blockchainId'>[] = allTargets(sandbox),
): Promise<string[]> {
  const problems: string[] = [];
  for (const target of targets) {
    // Coverage first: its rows were committed by then, and rows are never removed.
    const [row] = await sql<{ covered: string }[]>`
      select covered::text from recorder.coverage
      where dataset = 'proposed_blocks' and target_key = ${blocksTargetKey(target)}`;
    const [bad] = await sql<{ hashes: (string | null)[] }[]>`
      select coalesce(array_agg(substring(item from '"blockHash":"([^"]*)"')), '{}') as hashes
      from recorder.quarantine where dataset = 'proposed_blocks' and target_key = ${blocksTargetKey(target)}`;
    for (const { from, to } of parseMultirange(row?.covered ?? '')) {
      const claimed = { ...target, from, to };
      const found = new Set([...(await storedBlocks(sql, claimed)), ...(bad?.hashes ?? [])]);
      const unseen = trueBlocks(sandbox, claimed).filter((hash) => !found.has(hash));
      // A block whose proposer cannot be decoded is stored, but without this node.
      const withOtherProposer = new Set(unseen.length === 0 ? [] : await storedHashes(sql, unseen));
      const missing = unseen.filter((hash) => !withOtherProposer.has(hash));
      // An item whose hash cannot be decoded is one of the missing ones.
      const truth = new Set(trueBlocks(sandbox, claimed));
      const unreadable = (bad?.hashes ?? []).filter((hash) => hash === null || !truth.has(hash)).length;
      if (missing.length > unreadable)
        problems.push(
          `${target.blockchainId} of ${target.nodeId}: ${missing.length} blocks claimed from ${new Date(from).toISOString()} to ${new Date(to).toISOString()} are not stored`,
        );
    }
  }
  return problems;
}

const allTargets = (sandbox: World['sandbox']) =>
  sandbox.watch.nodeIds.flatMap((nodeId) =>
    ['p-chain', 'x-chain', 'c-chain'].map((blockchainId) => ({ nodeId, blockchainId })),
  );

/** Runs whose counts and rows disagree. A row of a log contains the run that wrote it. */
async function unaccounted({ sql }: World): Promise<string[]> {
  const rows = await sql<{ run_id: string; wrong: string }[]>`
    select r.run_id, w.wrong from recorder.runs r
    left join (select run_id, count(*) as n from recorder.proposed_blocks group by run_id) b using (run_id)
    left join (select run_id, count(*) as n from recorder.quarantine group by run_id) q using (run_id)
    cross join lateral (values
      (case when r.source = 'proposed-blocks' and r.rows_written[1] <> coalesce(b.n, 0)
        then format('says %s rows, wrote %s', r.rows_written[1], coalesce(b.n, 0)) end),
      (case when r.quarantined < coalesce(q.n, 0)
        then format('says %s quarantined, there are %s', r.quarantined, q.n) end),
      (case when r.source = 'proposed-blocks' and r.rows_written[1] + r.quarantined > r.items[1]
        then format('%s items became %s rows and %s quarantined', r.items[1], r.rows_written[1], r.quarantined) end)
    ) as w(wrong) where w.wrong is not null limit 20`;
  return rows.map(({ run_id, wrong }) => `run ${run_id}: ${wrong}`);
}
