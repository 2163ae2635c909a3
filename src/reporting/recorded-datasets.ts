import { catalog } from '../datasets/catalog.ts';
import type { Dataset } from '../datasets/contract.ts';
import { type Ledger, nodeHealth } from '../health/node-health.ts';

/** All datasets in the order of the documentation: the datasets of runs, then the prober's ledger. */
export const recorded: readonly (Dataset | Ledger)[] = [...catalog, nodeHealth];

/** Returns the dataset with a name; undefined if there is none. */
export function recordedNamed(name: string): Dataset | Ledger | undefined {
  return recorded.find((one) => one.name === name);
}
