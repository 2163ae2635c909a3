import type { Dataset, EveryNode } from '../../datasets/contract.ts';
import { snakeCase } from '../../datasets/names.ts';
import type { DeclaredFunction, DeclaredView } from '../../db/declared.ts';
import { comparedValueSql } from '../../recording/histories/change-recording.ts';
import {
  type ContradictionRule,
  possibleContradictionsSql,
} from '../../recording/histories/contradictions.ts';
import { agrees, comparison, HISTORY_SQL, partsOf, sameEntity, sameTarget } from './merged-sql.ts';
import { sortAsReleased } from './released-columns.ts';
import { asOfMoment, withRecordCheck } from './table-views.ts';
/**
 * Returns the view `D` of a dataset in which every node reports the same entities, and the function
 * `D_as_of(at)` with its rows at a past moment. Each entity has one row with the values of the majority, the
 * nodes that agree, and the nodes that disagree. Nodes with the same values are a group. The majority is the
 * group with the most nodes whose present values are known. If several groups have this number, the majority
 * is the group with the most nodes, then the group with the newest row, then the group whose names come
 * first. An omitted field is no contradiction, because versions of nodes and formats of responses differ in
 * their fields. Conditions on the key can use the index, because each `group by`, `partition by` and
 * `distinct on` contains the key.
 * @throws Error if the view does not support the dataset's kind of history
 */
export function mergedViews(
  dataset: Dataset,
  everyNode: EveryNode,
): readonly [DeclaredView, DeclaredFunction] {
  const { name, relation } = dataset;
  const now = mergedRows(dataset, everyNode, null);
  const past = mergedRows(dataset, everyNode, `${name}_as_of.at`);
  return [
    {
      kind: 'view',
      name,
      comment: `The values of all nodes in ${relation}: one row per entity, with the values of most nodes.`,
      ...now,
    },
    {
      ...asOfMoment({ name }, past.columns),
      comment: `The rows of ${name} as of a past moment, as known then. A moment before the first recording is an error.`,
      body: withRecordCheck(name, past.columns, `(${past.body})`),
    },
  ];
}

/**
 * Returns the columns and the query of the merged rows.
 * @param past SQL of the past moment; null for the present
 */
function mergedRows(
  dataset: Dataset,
  everyNode: EveryNode,
  past: string | null,
): Pick<DeclaredView, 'columns' | 'body'> {
  const parts = partsOf(dataset, everyNode, past);
  const { name, key, content, targetKeys } = parts;
  const historySql = HISTORY_SQL[dataset.history]?.(parts);
  if (!historySql)
    throw new Error(
      `${name}: merged views do not support the history ${dataset.history}: remove everyNode, or use log, state or sample`,
    );
  const compared = [...key, ...content];
  const { differs, otherwise } = comparison(parts);
  const keys = key.map((column) => `g.${column.name}`).join(', ');
  const most = 'g.known desc, cardinality(g.nodes) desc, g.newest_at desc, g.nodes';
  const [first, last] = keys
    ? [`distinct on (${keys}) `, `order by ${keys}, ${most}`]
    : ['', `order by ${most} limit 1`];
  const byEntity = `partition by ${keys || 'true'}`;
  const targetColumns = ['d.node', ...targetKeys.map((one) => `d.target ->> '${one}' as ${snakeCase(one)}`)];
  const columns = sortAsReleased(name, [
    ...compared.map(({ name: column, type, comment, nullable }) => ({
      name: column,
      select: `t.${column}`,
      type,
      comment,
      ...(nullable ? {} : { notNull: true }),
    })),
    {
      name: 'reporting_nodes',
      select: 'coalesce(o.nodes, t.nodes)',
      type: 'text[]',
      notNull: true,
      comment:
        'The nodes that report these values, by name. Nodes that omit a field and otherwise agree are included.',
    },
    {
      name: 'dissenting_nodes',
      select: 'o.disagreeing',
      type: 'jsonb',
      comment: `Differing columns and values, by node${historySql.absence ? '; the value null means that a node does not list the entity' : ''}. Null: no node differs.`,
    },
    ...historySql.more.map(({ from, ...column }) => ({ ...column, select: `o.${column.name}` })),
  ]);
  const body = `with observations as (
  select ${[...targetColumns, ...historySql.observations].join(', ')}
  from reporting_internal.node_targets d${historySql.observationsFrom}
  where d.dataset = '${name}' and ${historySql.watched}
  group by ${targetColumns.map((_, at) => at + 1).join(', ')}
)
select ${columns.map((column) => `${column.select} as ${column.name}`).join(', ')}
from (
  select ${first}g.*, count(*) over (${byEntity}) as variants, sum(g.known) over (${byEntity}) as all_known
  from (
    select ${[
      ...key.map((column) => `s.${column.name}`),
      ...content.map((column) => `${comparedValueSql(column, 's')} as ${column.name}`),
      'array_agg(s.node order by s.node) as nodes',
      ...historySql.group,
    ].join(', ')}
    from observations l
    join ${historySql.rows} and ${sameTarget(parts, 's', 'l')}
    group by ${compared.map((_, at) => at + 1).join(', ')}
  ) g
  ${last}
) t
left join lateral (
  select array_agg(s.node order by s.node) filter (where s.node is not null and ${agrees(parts, 's')}) as nodes,
    jsonb_object_agg(l.node, case when s.node is not null then ${otherwise} end)
      filter (where ${historySql.absence ? `(s.node is null or ${differs})` : differs} and ${historySql.comparable}) as disagreeing${historySql.more.map((column) => `,\n    ${column.from} as ${column.name}`).join('')}
  from observations l
  ${historySql.absence ? 'left ' : ''}join ${historySql.rows} and s.node = l.node and ${sameEntity(parts, 's', 't')}${historySql.compared}
  where ${[...targetKeys.map((one) => `l.${snakeCase(one)} = t.${snakeCase(one)}`), historySql.compare].join(' and ')}
) o on true`;
  return { columns: columns.map(({ select, ...column }) => column), body };
}

/**
 * Returns the view `D_disagreements` of a log that every node reports: the rows of `D` with
 * disagreements. Agreeing rows are not compared, so the view can be queried over years of blocks.
 * @param merged the view `D`
 */
export function disagreementsView(rule: ContradictionRule, merged: DeclaredView): DeclaredView {
  const { name } = rule.dataset;
  const same = rule.entityKey.map((column) => `n.${column} = c.${column}`).join(' and ');
  const columns = sortAsReleased(`${name}_disagreements`, merged.columns);
  // `offset 0` forces one index lookup per key.
  const body = `select ${columns.map((column) => `t.${column.name}`).join(', ')}
from (${possibleContradictionsSql(rule)}) c
cross join lateral (select * from reporting.${merged.name} n where ${same} offset 0) t
where t.dissenting_nodes is not null`;
  return {
    kind: 'view',
    name: `${name}_disagreements`,
    schema: 'reporting_internal',
    comment: `The entities of ${merged.name} with different values by node: one row per entity, with the values of most nodes.`,
    columns,
    body,
  };
}
