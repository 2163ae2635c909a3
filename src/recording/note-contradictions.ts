import type postgres from 'postgres';
import { catalog } from '../datasets/catalog.ts';
import { noting, toldByNodes, toldOnce } from './histories/contradictions.ts';

/** Rows are visible so long after the time that they carry, at the latest, ms: a commit takes minutes, and clocks differ. */
const VISIBLE = 86_400_000;

/** So much of what was recorded is compared by one statement, ms: a backfill of all blocks is compared in parts. */
const PART = 86_400_000;

/**
 * Notes which rows contradict each other, so that `D_conflicts` and `network_disagreements` need not compare all rows of years. What is
 * not noted yet is compared when it is asked for.
 * @param sql a connection whose statements may take minutes: those of a day's rows are compared by one @param now ms since 1970
 */
export async function noteContradictions(sql: postgres.Sql, now: number, signal: AbortSignal): Promise<void> {
  const until = now - VISIBLE;
  for (const telling of catalog.flatMap((one) => toldOnce(one) ?? toldByNodes(one) ?? [])) {
    const { name } = telling.dataset;
    const [known] = await sql.unsafe<{ at: Date | null }[]>(`
      select coalesce((select until from recorder.contradictions_noted where dataset = '${name}'),
        (select min(recorded_at) from recorder.${name})) as at`);
    for (let at = Math.min(known?.at?.getTime() ?? until, until); !signal.aborted; ) {
      at = Math.min(at + PART, until);
      await sql.unsafe(noting(telling), [new Date(at).toISOString()]);
      if (at === until) break;
    }
  }
}
