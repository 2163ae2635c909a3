import type { DatasetColumn } from '../../datasets/contract.ts';
import { type Packing, regclassSql } from './value-encoding.ts';

/** Returns the name of the view of {@link observationsSql} for a dataset. */
export const observationsViewName = (dataset: string) => `${dataset}_observations`;
export const membersViewName = (dataset: string) => `${dataset}_members`;

/**
 * SQL: the observations of each scope, found without unpacking values: the values of the request, the
 * instant, and the run. There is no DISTINCT over all forms, so that PostgreSQL applies a bound on the
 * instant within each form, per scope.
 */
export function observationsSql(packing: Packing): string {
  const { dataset, request } = packing;
  const requested = request.map(({ name }, at) => `s.request[${at + 1}] as ${name}`);
  const packed = (table: string) => `select ${[...requested, 'l.observed_at', 'l.run_id'].join(', ')}
from recorder.${table} l join recorder.reading_scopes s on s.scope_id = l.scope_id
where s.dataset = ${regclassSql(packing)}`;
  const rows = `select distinct ${[...request.map(({ name }) => name), 'observed_at', 'run_id'].join(', ')} from recorder.${dataset.name}`;
  return [packed('reading_observations'), packed('reading_open'), rows].join('\nunion all\n');
}

/** Returns the columns that identify an entity and are never null: the request, and the texts of the key. */
export const membersColumns = ({ dataset, request, texts }: Packing): readonly DatasetColumn[] => [
  ...request,
  ...texts.filter(({ name, nullable }) => dataset.key.includes(name) && !nullable),
];

/** SQL: each entity that was ever read, as far back as readings are retained, by {@link membersColumns}. */
export function membersSql(packing: Packing): string {
  const { dataset, request, texts } = packing;
  const columns = membersColumns(packing);
  const stored = new Map([
    ...request.map(({ name }, at): [string, string] => [name, `s.request[${at + 1}]`]),
    ...texts.map(({ name }, at): [string, string] => [name, `m.texts[${at + 1}]`]),
  ]);
  return `select ${columns.map(({ name }) => `${stored.get(name)} as ${name}`).join(', ')}
from recorder.reading_scopes s join recorder.reading_members m on m.scope_id = s.scope_id
where s.dataset = ${regclassSql(packing)}
union
select ${columns.map(({ name }) => name).join(', ')} from recorder.${dataset.name}`;
}
