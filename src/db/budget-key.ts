import { createHash } from 'node:crypto';

/** Whose allowance a row of `recorder.budgets` is. */
export interface BudgetKey {
  /** The upstream's name in the configuration. */
  readonly upstream: string;
  /** Equal for equal server and key header. */
  readonly endpoint: string;
}

/**
 * Names the allowance of an upstream: another server, or another way to show a key, has one of its own. Neither the key
 * nor what else of the URL may be secret (user, path, query) goes into it; a new key at the same server draws on what is left.
 * @param keyHeader the header that carries a key; undefined: no key is sent
 */
export function budgetKey(upstream: string, url: string, keyHeader: string | undefined): BudgetKey {
  const asked = `${new URL(url).origin} ${keyHeader?.toLowerCase() ?? ''}`;
  return { upstream, endpoint: createHash('sha256').update(asked).digest('hex').slice(0, 16) };
}
