import {
  declaredColumn as column,
  type Declared,
  type DeclaredColumn,
  type DeclaredView,
  isPublic,
  literal,
} from '../../db/declared.ts';
import type { OrderColumn } from '../relations/relation.ts';
import { type ColumnMetadata, columnMetadata } from './column-metadata.ts';
import { datasetOfRelation, naturalKeyOf } from './relation-keys.ts';

/** Description of a relation for tools. */
export interface RelationMetadata {
  readonly schema_name: string;
  readonly relation: string;
  readonly kind: Declared['kind'];
  readonly dataset: string | null;
  /** Kind of history of the dataset. */
  readonly history: string | null;
  readonly grain: string;
  /** Columns that identify the entity of a row. */
  readonly entity: readonly string[] | null;
  readonly description: string;
  readonly columns: readonly ColumnMetadata[];
}

/** The referenced relation and column, by the name of the column that refers to them in every relation. */
const REFERENCES: Readonly<Record<string, readonly [relation: string, column: string]>> = {
  run_id: ['runs', 'run_id'],
  node: ['nodes', 'node'],
  chain_id: ['chains', 'chain_id'],
  day: ['calendar', 'day'],
};

/** Returns the descriptions of the public relations, in the order of their names. */
export function describeRelations(declared: readonly Declared[]): RelationMetadata[] {
  const names = new Set(declared.map(({ name }) => name));
  return declared
    .filter((object) => isPublic(object) && object.columns.length > 0)
    .map((object) => describeRelation(object, names))
    .toSorted((one, other) => (one.relation < other.relation ? -1 : 1));
}

function describeRelation(object: Declared, names: ReadonlySet<string>): RelationMetadata {
  const { name, kind, schema = 'reporting', comment, columns } = object;
  const dataset = datasetOfRelation(name);
  const key = naturalKeyOf(name);
  const keyNames = key?.map((one) => one.name) ?? [];
  const refersTo = (one: string): string | null => {
    if (one === 'version_id' && schema === 'reporting_lists')
      return `${dataset?.relation}_history.version_id`;
    const [relation, to] = REFERENCES[one] ?? [];
    return relation === undefined || !names.has(relation) || relation === name ? null : `${relation}.${to}`;
  };
  return {
    schema_name: schema,
    relation: name,
    kind,
    dataset: dataset?.name ?? null,
    history: dataset?.history ?? null,
    grain: key ? grainOf(name, key) : firstSentence(comment),
    entity: dataset ? entityOf(dataset.key.filter((one) => keyNames.includes(one))) : null,
    description: comment,
    columns: columns.map((one) => columnMetadata(one, key ?? [], refersTo(one.name))),
  };
}

/**
 * Returns the columns of a key that identify the entity: all columns except the node, or the node if the key
 * has no other column.
 */
const entityOf = (key: readonly string[]) => (key.length > 1 ? key.filter((one) => one !== 'node') : key);

/** Columns of a key that distinguish the versions of an entity. */
const VERSION_COLUMNS: ReadonlySet<string> = new Set(['valid_from']);

function grainOf(name: string, key: readonly OrderColumn[]): string {
  const names = key.map((one) => one.name);
  const entity = listed(names.filter((one) => !VERSION_COLUMNS.has(one) && one !== 'position'));
  if (names.includes('position') && names.includes('valid_from'))
    return `One row per element of the list, of each version of ${entity}.`;
  if (names.includes('valid_from')) return `One row per version of ${entity}.`;
  if (name.endsWith('_changes')) return `One row per change of ${listed(names.slice(2))}.`;
  return `One row per ${entity}.`;
}

const listed = (names: readonly string[]) =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const firstSentence = (text: string) => /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;

const relationColumns = [
  column('schema_name', 'text', 'The schema: reporting, or reporting_lists for the elements of lists.'),
  column('relation', 'text', 'The name of the view or function.'),
  column('kind', 'text', 'view or function.'),
  column(
    'dataset',
    'text',
    'The dataset of the rows. Null: the relation belongs to no dataset, or to several datasets.',
  ),
  column(
    'history',
    'text',
    'Kind of history of the dataset: series, log, state, sample or ledger. Null: the relation belongs to no dataset.',
  ),
  column('grain', 'text', 'Meaning of one row.'),
  column(
    'entity',
    'text[]',
    'The columns that identify the entity of a row. Null: the relation belongs to no dataset.',
  ),
  column('description', 'text', 'Description of the rows.'),
];

const columnColumns = [
  column('schema_name', 'text', 'The schema of the relation.'),
  column('relation', 'text', 'The view or function.'),
  column('column_name', 'text', 'The column.'),
  column('position', 'integer', 'Position of the column, from 1.'),
  column('type', 'text', 'The type in PostgreSQL.'),
  column(
    'key_position',
    'integer',
    'Position in the key of a row, from 1. Null: the column is not in the key.',
  ),
  column(
    'role',
    'text',
    'key, surrogate (assigned by the recorder), time, measure (a number to aggregate) or attribute.',
  ),
  column('unit', 'text', 'Unit of the number. Null: the number has no unit, or the column has no numbers.'),
  column(
    'additive',
    'boolean',
    'True if the sum over rows of the same moment is meaningful. Null: the column is no measure.',
  ),
  column('nullable', 'boolean', 'True if the column can be null.'),
  column('null_means', 'text', 'Meaning of null. Null: the column is never null, or null means unknown.'),
  column(
    'refers_to',
    'text',
    'The column with these values in another relation, as RELATION.COLUMN. Null: the column refers to no other relation.',
  ),
  column('description', 'text', 'Description of the column.'),
];

/**
 * Returns the views `relations` and `columns` with the descriptions of all public relations, including these
 * two views.
 * @param declared all other objects of `reporting`
 */
export function metadataViews(declared: readonly Declared[]): DeclaredView[] {
  const relations: DeclaredView = {
    kind: 'view',
    name: 'relations',
    comment: 'The relations of reporting, for tools: one row per view or function that returns rows.',
    columns: [
      ...relationColumns,
      column('since', 'timestamptz', 'Start of the record of the dataset. Null: nothing is recorded yet.'),
    ],
    body: '',
  };
  const columns: DeclaredView = {
    kind: 'view',
    name: 'columns',
    comment: 'The columns of all relations of reporting, for tools.',
    columns: columnColumns,
    body: '',
  };
  const described = describeRelations([...declared, relations, columns]);
  return [
    { ...relations, body: relationsSql(described) },
    { ...columns, body: columnsSql(described) },
  ];
}

const jsonLiteral = (value: unknown) =>
  literal(JSON.stringify(value, (_, part: unknown) => (part === null ? undefined : part)));

const typesOf = (columns: readonly DeclaredColumn[]) =>
  columns.map(({ name, type }) => `${name} ${type}`).join(', ');

/** Returns SQL of the rows of the view `relations`. */
function relationsSql(described: readonly RelationMetadata[]): string {
  const rows = described.map(({ columns: _, ...relation }) => relation);
  return `select r.*, s.since
from jsonb_to_recordset(${jsonLiteral(rows)}) as r(${typesOf(relationColumns)})
left join (select dataset, min(recorded_since) as since from reporting_internal.recorded_since group by dataset) s using (dataset)`;
}

/**
 * Returns SQL of the rows of the view `columns`. Relations with the same columns share their descriptions.
 */
function columnsSql(described: readonly RelationMetadata[]): string {
  const shared = new Map<string, { readonly schema_name: string; readonly relations: string[] }>();
  for (const { schema_name, relation, columns } of described) {
    const own = JSON.stringify(columns);
    const known = shared.get(own) ?? { schema_name, relations: [] };
    known.relations.push(relation);
    shared.set(own, known);
  }
  const rows = [...shared].map(([columns, one]) => ({ ...one, columns: JSON.parse(columns) }));
  return `select ${columnColumns.map(({ name, type }) => expressions[name] ?? `(c.value ->> '${name}')::${type} as ${name}`).join(', ')}
from jsonb_to_recordset(${jsonLiteral(rows)}) as r(schema_name text, relations text[], columns jsonb)
cross join lateral unnest(r.relations) as n(relation)
cross join lateral jsonb_array_elements(r.columns) with ordinality as c(value, position)`;
}

/** SQL of the columns of the view `columns` that the metadata of a column does not contain, by name. */
const expressions: Readonly<Record<string, string>> = {
  schema_name: 'r.schema_name',
  relation: 'n.relation',
  position: 'c.position::integer as position',
};
