import { catalog } from '../datasets/catalog.ts';
import type { Dataset } from '../datasets/contract.ts';
import { type Ledger, nodeHealth } from '../health/node-health.ts';

/** Everything that is recorded, in the order in which people meet it: the datasets of runs, then the prober's ledger. */
export const recorded: readonly (Dataset | Ledger)[] = [...catalog, nodeHealth];

/** What is recorded under that name; undefined where there is nothing. */
export function recordedNamed(name: string): Dataset | Ledger | undefined {
  return recorded.find((one) => one.name === name);
}
