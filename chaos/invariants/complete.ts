import type postgres from 'postgres';
import { checksum, storedBlocks } from '../stored-blocks.ts';
import { trueBlocks } from '../truth.ts';
import type { Invariant } from './invariant.ts';

/** A: the keys of the upstream and the stored ones are the same set, up to the watermark. */
export const complete: Invariant = {
  letter: 'A',
  description: 'stored keys = true keys',
  async check({ sql, sandbox, watched, evidence }) {
    const problems: string[] = [];
    let rows = 0;
    const sums = { truth: [] as string[], stored: [] as string[] };
    for (const one of watched) {
      const truth = trueBlocks(sandbox, one);
      const stored = await storedBlocks(sql, one);
      const [expected, found] = [new Set(truth), new Set(stored)];
      const quarantined = await quarantinedHashes(sql);
      const lost = truth.filter((hash) => !found.has(hash) && !quarantined.has(hash));
      const invented = stored.filter((hash) => !expected.has(hash));
      const where = `${one.blockchainId} of ${one.nodeId}`;
      if (lost.length > 0) problems.push(`${where}: ${lost.length} of ${truth.length} blocks lost`);
      if (invented.length > 0) problems.push(`${where}: ${invented.length} blocks that never existed`);
      rows += stored.length;
      sums.truth.push(checksum(truth));
      sums.stored.push(checksum(stored));
    }
    if (watched.length > 0) {
      evidence.figures.set('rows', rows);
      const [truth, stored] = [checksum(sums.truth), checksum(sums.stored)];
      evidence.figures.set('checksum', truth === stored ? truth : `${stored} stored, ${truth} true`);
    }
    return problems;
  },
};

async function quarantinedHashes(sql: postgres.Sql): Promise<Set<string>> {
  const rows = await sql<{ hash: string | null }[]>`
    select substring(item from '"blockHash":"([^"]*)"') as hash from recorder.quarantine
    where dataset = 'proposed_blocks'`;
  return new Set(rows.flatMap(({ hash }) => (hash === null ? [] : [hash])));
}
