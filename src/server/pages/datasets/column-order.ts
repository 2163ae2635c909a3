import { SERIES_ID } from '../../../datasets/target-columns.ts';
import type { DeclaredColumn } from '../../../db/declared.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { columnKind } from '../parts/value.tsx';

/** Numbers of the recording, which measure nothing. */
const BOOKKEEPING = new Set(['run_id', SERIES_ID]);

/**
 * Orders the columns of a table of rows, so that a phone shows the important ones without scrolling: the key
 * beside the request, the numbers, the request, the other columns, the observer. The request comes before the
 * numbers if the rest of the key is only a time.
 */
export function orderTableColumns<Column extends Pick<DeclaredColumn, 'name' | 'type'>>(
  columns: readonly Column[],
  { key, request }: Pick<ReadableDataset, 'key' | 'request'>,
): Column[] {
  const observer = ['observer', 'node'].find((name) => request.includes(name));
  if (key.every((name) => name === observer)) return [...columns];
  const isOwnKey = (name: string) => key.includes(name) && !request.includes(name);
  const isIdentifiedAlone = columns.some(({ name, type }) => isOwnKey(name) && type !== 'timestamptz');
  const rank = ({ name, type }: Column) => {
    if (name === observer) return 5;
    if (isOwnKey(name)) return 0;
    if (key.includes(name)) return isIdentifiedAlone ? 3 : 1;
    return columnKind(type) === 'number' && !BOOKKEEPING.has(name) ? 2 : 4;
  };
  return columns.toSorted((one, other) => rank(one) - rank(other));
}
