import { createHash } from 'node:crypto';

/**
 * The shares into which an observer's nodes are divided. Each is an observer of its own in the ledger: with its lease, its heartbeat and
 * its absences. The first has the observer's name, so that an observer that is not divided is its only share. No configured name has a slash.
 */
export function sharesOf(observer: string, count: number): readonly [string, ...string[]] {
  return [observer, ...Array.from({ length: count - 1 }, (_, at) => `${observer}/${at + 2}`)];
}

/** The share that a node belongs to. When their number changes, only nodes of a share that is new or gone move. */
export function shareOf(node: string, [first, ...others]: readonly [string, ...string[]]): string {
  if (others.length === 0) return first;
  const weightOf = (share: string) => createHash('sha256').update(`${share}\n${node}`).digest('hex');
  let best = { share: first, weight: weightOf(first) };
  for (const share of others) {
    const weight = weightOf(share);
    if (weight > best.weight) best = { share, weight };
  }
  return best.share;
}
