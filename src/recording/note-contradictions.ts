import type postgres from 'postgres';
import { catalog } from '../datasets/catalog.ts';
import { canContradict, noting } from '../history/contradictions.ts';

/** Rows are visible so long after the time that they carry, at the latest, ms: a commit takes minutes, and clocks differ. */
const VISIBLE = 86_400_000;

/**
 * Notes which rows contradict each other, so that `D_conflicts` need not compare all rows of a year. What is not noted yet is
 * compared when it is asked for.
 * @param sql a connection whose statements may take minutes: the first time all rows are compared @param now ms since 1970
 */
export async function noteContradictions(sql: postgres.Sql, now: number): Promise<void> {
  const until = new Date(now - VISIBLE).toISOString();
  for (const dataset of catalog.filter(canContradict)) await sql.unsafe(noting(dataset), [until]);
}
