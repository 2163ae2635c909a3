import { createHash } from 'node:crypto';

/** The key of a row of `recorder.budgets`: the budget of one upstream at one endpoint. */
export interface BudgetKey {
  /** The upstream's name in the configuration. */
  readonly upstream: string;
  /** Hash of the URL's origin and the name of the header that carries the API key. */
  readonly endpoint: string;
}

/**
 * Returns the key of an upstream's budget. Another server, or another way to send an API key, has a budget of
 * its own. The hash contains neither the key nor the parts of the URL that may be secret (user, path, query).
 * A new API key for the same server shares the remaining budget.
 * @param keyHeader the header that carries the API key; undefined if no key is sent
 */
export function budgetKey(upstream: string, url: string, keyHeader: string | undefined): BudgetKey {
  const identity = `${new URL(url).origin} ${keyHeader?.toLowerCase() ?? ''}`;
  return { upstream, endpoint: createHash('sha256').update(identity).digest('hex').slice(0, 16) };
}
