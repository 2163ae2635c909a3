import type { Dataset } from '../../datasets/contract.ts';
import { type DeclaredFunction, type DeclaredView, declaredColumn } from '../../db/declared.ts';
import {
  type ContradictionRule,
  everyNodeRule,
  possibleContradictionsSql,
  singleRowRule,
} from '../../recording/histories/contradictions.ts';
import { getEntityKey } from './merged-sql.ts';

/**
 * Returns the function `disagreements` with the values that contradict each other: values of nodes that
 * differ from the values of most nodes, and values of the data service that differ from its first response.
 * @param datasets the catalog; datasets without contradiction rules are ignored
 */
export function nodeDisagreements(datasets: readonly Dataset[]): DeclaredFunction {
  return {
    kind: 'function',
    name: 'disagreements',
    comment:
      'Values that currently contradict each other: values of nodes that differ from most nodes, and values of the data service if its responses differ. If a node does not list an entity that most nodes list, there is one row whose column_name is null.',
    parameters: [
      {
        name: 'dataset',
        type: 'text',
        preset: 'null',
        comment: 'Returns only rows of this dataset, such as validators.',
      },
    ],
    columns: [
      { name: 'dataset', type: 'text', comment: 'The dataset.' },
      {
        name: 'entity',
        type: 'text',
        comment: 'The entity, as key=value. Empty: the dataset has a single entity.',
      },
      {
        name: 'node',
        type: 'text',
        comment: 'The node that disagrees. Null: the responses of the data service contradict each other.',
      },
      {
        name: 'column_name',
        type: 'text',
        comment: 'The column with the other value. Null: the node does not list the entity.',
      },
      { name: 'node_value', type: 'text', comment: 'The value of the node, or of the later response.' },
      { name: 'majority_value', type: 'text', comment: 'The value of most nodes, or of the first response.' },
      {
        name: 'reporting_nodes',
        type: 'text[]',
        comment: 'The nodes with the value of most nodes. Null: the data service.',
      },
    ],
    body: `${[
      ...datasets.filter(({ everyNode }) => everyNode !== undefined).map(betweenNodes),
      ...datasets.flatMap((dataset) => singleRowRule(dataset) ?? []).map(betweenResponses),
    ].join('\nunion all\n')}
order by 1, 2, 3, 4`,
  };
}

function betweenNodes(dataset: Dataset): string {
  const { name } = dataset;
  const entity = getEntityKey(dataset).map((column) => `'${column.name}=' || t.${column.name}`);
  return `select '${name}'::text as dataset, concat_ws(' ', ${entity.join(', ') || "''"}) as entity,
  d.node, s.name as column_name, s.value as node_value, to_jsonb(t) ->> s.name as majority_value, t.reporting_nodes
from ${everyNodeRule(dataset) ? `reporting_internal.${name}_disagreements` : `reporting.${name}`} t
cross join lateral jsonb_each(t.dissenting_nodes) as d(node, value)
left join lateral jsonb_each_text(case jsonb_typeof(d.value) when 'object' then d.value end) as s(name, value) on true
where disagreements.dataset is null or disagreements.dataset = '${name}'`;
}

/**
 * Returns the internal view `D_contradictions` of a log with one row per entity ({@link singleRowRule}): the
 * rows whose other key columns differ from those of the first row.
 */
export function contradictionsView(rule: ContradictionRule): DeclaredView {
  const { dataset, entityKey } = rule;
  const others = dataset.key.filter((column) => !entityKey.includes(column));
  const same = entityKey.map((column) => `r.${column} = c.${column}`).join(' and ');
  // The `offset 0` after these rows forces one index lookup per key.
  const rows = `select * from recorder.${dataset.name} r where ${same} and r.valid_to is null`;
  const values = others.map((column) => `('${column}', r.${column}::text, f.${column}::text)`).join(', ');
  return {
    kind: 'view',
    name: `${dataset.name}_contradictions`,
    schema: 'reporting_internal',
    comment: `Rows of ${dataset.name} that contradict the first row with the same ${entityKey.join(', ')}.`,
    columns: [
      declaredColumn('entity', 'text', 'The entity, as key=value.'),
      declaredColumn('column_name', 'text', 'The column with the other value.'),
      declaredColumn('value', 'text', 'The value of the later row.'),
      declaredColumn('first_value', 'text', 'The value of the first row.'),
    ],
    body: `select concat_ws(' ', ${entityKey.map((column) => `'${column}=' || c.${column}`).join(', ')}) as entity, s.name as column_name, s.value, s.first_value
from (${possibleContradictionsSql(rule)}) c
cross join lateral (${rows} order by r.valid_from, ${others.map((column) => `r.${column}`).join(', ')} limit 1) f
cross join lateral (${rows} offset 0) r
cross join lateral (values ${values}) as s(name, value, first_value)
where s.value <> s.first_value`,
  };
}

/** Returns SQL of the contradictions between responses of the data service. */
const betweenResponses = ({ dataset: { name } }: ContradictionRule) =>
  `select '${name}', c.entity, null, c.column_name, c.value, c.first_value, null::text[]
from reporting_internal.${name}_contradictions c
where disagreements.dataset is null or disagreements.dataset = '${name}'`;
