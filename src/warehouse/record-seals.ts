import type { Snapshot } from '../db/snapshot.ts';
import type { Manifest, ManifestSeal } from './manifest.ts';

/** The newest seal of what a snapshot sees; null: nothing is sealed. */
export const newestSeal = (snapshot: Snapshot): Promise<ManifestSeal | null> => sealAt(snapshot, 'desc');

/** The first seal of what a snapshot sees; null: nothing is sealed. */
export const firstSeal = (snapshot: Snapshot): Promise<ManifestSeal | null> => sealAt(snapshot, 'asc');

async function sealAt(snapshot: Snapshot, order: 'asc' | 'desc'): Promise<ManifestSeal | null> {
  const [row] = await snapshot.rows(
    `select seal::int, to_char(until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until, head
     from recorder.seals where made_at is not null order by seal ${order} limit 1`,
  );
  if (!row) return null;
  return { seal: Number(row.seal), until: String(row.until), head: String(row.head) };
}

/** Whether what a snapshot sees has a seal. Heads are chained: then all seals before it are the same, too. */
export async function hasSeal(snapshot: Snapshot, { seal, head }: ManifestSeal): Promise<boolean> {
  const rows = await snapshot.rows(
    `select head from recorder.seals where made_at is not null and seal = ${seal}`,
  );
  return rows.some((row) => row.head === head);
}

/**
 * Whether files are of this record, wherever it was restored or promoted. A record that was set back to a backup older than the
 * files lacks their newest seals, and makes others of the same numbers: it still has the first one.
 */
export async function isSameRecord(
  snapshot: Snapshot,
  { seal, first_seal }: Pick<Manifest, 'seal' | 'first_seal'>,
): Promise<boolean> {
  for (const one of [seal, first_seal]) if (one && (await hasSeal(snapshot, one))) return true;
  return false;
}
