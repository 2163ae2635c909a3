import type { Snapshot } from '../db/snapshot.ts';
import type { Manifest, ManifestSeal } from './manifest.ts';

/** Returns the newest seal in a snapshot. Returns null if nothing is sealed. */
export const newestManifestSeal = (snapshot: Snapshot): Promise<ManifestSeal | null> =>
  sealAt(snapshot, 'desc');

/** Returns the first seal in a snapshot. Returns null if nothing is sealed. */
export const firstSeal = (snapshot: Snapshot): Promise<ManifestSeal | null> => sealAt(snapshot, 'asc');

async function sealAt(snapshot: Snapshot, order: 'asc' | 'desc'): Promise<ManifestSeal | null> {
  const [row] = await snapshot.rows(
    `select seal::int, to_char(until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as until, head
     from recorder.seals where made_at is not null order by seal ${order} limit 1`,
  );
  if (!row) return null;
  return { seal: Number(row.seal), until: String(row.until), head: String(row.head) };
}

/**
 * Returns true if a snapshot contains a seal. Heads are chained, so then all earlier seals are identical,
 * too.
 */
export async function hasSeal(snapshot: Snapshot, { seal, head }: ManifestSeal): Promise<boolean> {
  const rows = await snapshot.rows(
    `select head from recorder.seals where made_at is not null and seal = ${seal}`,
  );
  return rows.some((row) => row.head === head);
}

/**
 * Returns true if files belong to this record, even after a restore or a promotion. A record that was
 * restored from a backup older than the files lacks the newest seals of the files, and creates other seals
 * with the same numbers. Such a record still has the first seal.
 */
export async function isSameRecord(
  snapshot: Snapshot,
  { seal, first_seal }: Pick<Manifest, 'seal' | 'first_seal'>,
): Promise<boolean> {
  for (const one of [seal, first_seal]) if (one && (await hasSeal(snapshot, one))) return true;
  return false;
}
