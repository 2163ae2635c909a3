import { createHash } from 'node:crypto';

/**
 * Returns the shares of the nodes of an observer. Each share is a separate observer in the ledger, with its
 * own lease, heartbeat and absences. The first share has the name of the observer, so that an undivided
 * observer is its only share. Configured names cannot contain a slash.
 */
export function sharesOf(observer: string, count: number): readonly [string, ...string[]] {
  return [observer, ...Array.from({ length: count - 1 }, (_, at) => `${observer}/${at + 2}`)];
}

/**
 * Returns the share of a node, by rendezvous hashing. If the number of shares changes, only nodes of added or
 * removed shares move.
 */
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
