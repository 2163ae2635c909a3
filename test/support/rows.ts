import { findDataset } from '../../src/datasets/catalog.ts';
import type { Dataset } from '../../src/datasets/contract.ts';
import { tableRowsSql as rowsWithRequest } from '../../src/datasets/target-columns.ts';

/**
 * SQL: all recorded rows of a name, with `extra`: readings are stored in several forms, which their view returns as
 * one.
 */
export function rowsOf(name: string): string {
  const dataset = findDataset(name);
  return dataset ? rowsIn(dataset) : `recorder.${name}`;
}

/** As {@link rowsOf}, of a dataset. */
export function rowsIn(dataset: Dataset): string {
  const { relation, history, extra } = dataset;
  if (history !== 'sample') return rowsWithRequest(dataset);
  return `(select *${extra === false ? ', null::jsonb as extra' : ''} from reporting.${relation})`;
}
