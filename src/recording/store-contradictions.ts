import type postgres from 'postgres';
import { catalog } from '../datasets/catalog.ts';
import { everyNodeRule, singleRowRule, storeContradictionsSql } from './histories/contradictions.ts';

/**
 * Maximum delay until a row is visible after its recording time, in ms. A commit may take minutes, and clocks
 * differ.
 */
const MAX_VISIBILITY_DELAY_MS = 86_400_000;

/**
 * Range of recording times that one statement compares, in ms, so that a backfill of all blocks is compared
 * in parts.
 */
const PART_MS = 86_400_000;

/**
 * Stores which rows contradict each other, so that queries of `disagreements` do not compare the rows of
 * years. Later rows are compared at query time.
 * @param sql a connection without a short statement timeout: one statement compares the rows of a day, which
 * may take minutes
 * @param now ms since 1970
 */
export async function storeContradictions(
  sql: postgres.Sql,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const until = now - MAX_VISIBILITY_DELAY_MS;
  for (const rule of catalog.flatMap((one) => singleRowRule(one) ?? everyNodeRule(one) ?? [])) {
    const { name } = rule.dataset;
    const [known] = await sql.unsafe<{ at: Date | null }[]>(`
      select coalesce((select until from recorder.contradictions_noted where dataset = '${name}'),
        (select min(valid_from) from recorder.${name})) as at`);
    for (let at = Math.min(known?.at?.getTime() ?? until, until); !signal.aborted; ) {
      at = Math.min(at + PART_MS, until);
      await sql.unsafe(storeContradictionsSql(rule), [new Date(at).toISOString()]);
      if (at === until) break;
    }
  }
}
