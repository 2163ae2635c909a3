import { SERIES_ID } from '../../../datasets/target-columns.ts';
import type { DeclaredColumn } from '../../../db/declared.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { columnKind } from '../parts/value.tsx';

/** Numbers of the recording, which measure nothing. */
const BOOKKEEPING = new Set(['run_id', SERIES_ID]);

/**
 * Orders the columns of a table of rows, so that a phone shows the important ones without scrolling: the rest
 * of the key beside the request, the request, the numbers, then the other columns. The observer is last.
 */
export function orderTableColumns<Column extends Pick<DeclaredColumn, 'name' | 'type'>>(
  columns: readonly Column[],
  { key, request }: Pick<ReadableDataset, 'key' | 'request'>,
): Column[] {
  const observer = ['observer', 'node'].find((name) => request.includes(name));
  const rank = ({ name, type }: Column) => {
    if (name === observer) return 4;
    if (key.includes(name)) return request.includes(name) ? 1 : 0;
    return columnKind(type) === 'number' && !BOOKKEEPING.has(name) ? 2 : 3;
  };
  const isIdentifiedByObserver = key.every((name) => name === observer);
  return isIdentifiedByObserver ? [...columns] : columns.toSorted((one, other) => rank(one) - rank(other));
}
