import type { Dataset } from '../../datasets/contract.ts';
import type { DeclaredFunction } from '../../db/declared.ts';
import { everyNodeRule } from '../../recording/histories/contradictions.ts';
import { getEntityKey } from './network-view.ts';

/**
 * Returns the function `disagreements`: the values in which nodes differ from the majority, in every
 * `network_D`, one row per node and column.
 * @param datasets the catalog; datasets without `everyNode` are ignored
 */
export function networkDisagreements(datasets: readonly Dataset[]): DeclaredFunction {
  return {
    kind: 'function',
    name: 'disagreements',
    comment:
      'Who of the nodes disagrees with most nodes now, and about what. A node that does not list a thing that most nodes list has one row without a column.',
    parameters: [
      { name: 'dataset', type: 'text', preset: 'null', comment: 'Only of this dataset, such as validators.' },
    ],
    columns: [
      { name: 'dataset', type: 'text', comment: 'The dataset.' },
      { name: 'thing', type: 'text', comment: 'The thing, as key=value; empty: there is only one.' },
      { name: 'node', type: 'text', comment: 'The node that disagrees.' },
      { name: 'column_name', type: 'text', comment: 'In what; null: it does not list the thing.' },
      { name: 'node_says', type: 'text', comment: 'What it says.' },
      { name: 'most_say', type: 'text', comment: 'What most nodes say.' },
      { name: 'reporting_nodes', type: 'text[]', comment: 'The nodes that say what most say.' },
    ],
    body: `${datasets
      .filter(({ everyNode }) => everyNode !== undefined)
      .map(branch)
      .join('\nunion all\n')}
order by 1, 2, 3, 4`,
  };
}

function branch(dataset: Dataset): string {
  const { name } = dataset;
  const thing = getEntityKey(dataset).map((column) => `'${column.name}=' || t.${column.name}`);
  return `select '${name}'::text as dataset, concat_ws(' ', ${thing.join(', ') || "''"}) as thing,
  d.node, s.name as column_name, s.value as node_says, to_jsonb(t) ->> s.name as most_say, t.reporting_nodes
from reporting.${everyNodeRule(dataset) ? `${name}_disagreements` : `network_${name}`} t
cross join lateral jsonb_each(t.dissenting_nodes) as d(node, said)
left join lateral jsonb_each_text(case jsonb_typeof(d.said) when 'object' then d.said end) as s(name, value) on true
where disagreements.dataset is null or disagreements.dataset = '${name}'`;
}
