import type { Dataset, DatasetColumn, EveryNode } from '../../datasets/contract.ts';
import { keyColumnSql } from '../../datasets/dataset.ts';
import { snakeCase } from '../../datasets/names.ts';
import type { DeclaredColumn, DeclaredView } from '../../db/declared.ts';
import { comparedColumns, comparedValueSql } from '../../recording/histories/change-recording.ts';
import {
  type ContradictionRule,
  possibleContradictionsSql,
} from '../../recording/histories/contradictions.ts';
import { lastObservationSql } from '../../recording/readings/forms.ts';
import { packingOf } from '../../recording/readings/value-encoding.ts';
import { sortAsReleased } from './released-columns.ts';

/** The parts of a dataset whose entities every node reports. */
interface Parts {
  readonly name: string;
  /** The key of an entity: the natural key without the node. */
  readonly key: readonly DatasetColumn[];
  /** The columns in which all nodes should agree. */
  readonly content: readonly DatasetColumn[];
  /** The keys of the target without the node. */
  readonly asked: readonly string[];
  /** Readings can contradict each other only if they have the same value in this column. */
  readonly at: string | undefined;
  /** Only for readings: SQL of the time of the last observation of the target of the row `l`. */
  readonly lastLook: string;
}

/**
 * The SQL parts of the view for a kind of history. In them, `l` is the observations of a node, `s` is a row
 * of that node, and `t` is the row that is shown.
 */
interface HistorySql {
  /** More columns of `looks`. */
  readonly looks: readonly string[];
  /** The condition for targets that count. */
  readonly watched: string;
  /** The FROM item `s` and the start of its join condition. */
  readonly said: string;
  /**
   * Columns for each group of nodes with the same values: `known` (the number of nodes that know the present
   * values), `said_at` (the newest time of their rows), and columns that the comparison needs.
   */
  readonly group: readonly string[];
  /** Set if a node without a row takes part in the comparison, too. */
  readonly absence?: true;
  /** More FROM items of the comparison. */
  readonly compared: string;
  /** The condition for entities whose nodes must be compared one by one. */
  readonly compare: string;
  /** The condition for a node whose other values count as a disagreement. */
  readonly knows: string;
  /** More columns of the view, which the comparison computes. */
  readonly more: readonly (DeclaredColumn & { readonly from: string })[];
}

/**
 * Returns the view `network_D` of a dataset in which every node reports the same entities. Each entity has
 * one row with the values of the majority, the nodes that agree, and the nodes that disagree. The majority is
 * determined by the nodes that know the present values first, then by all nodes. If two groups of nodes are
 * equally large, the values with the newest row are shown, then those of the nodes whose names come first.
 * A field that a node omits contradicts nothing, because versions of nodes and formats of responses differ in
 * their fields. Conditions on the key can use the index, because each `group by`, `partition by` and
 * `distinct on` has the key.
 * @throws Error if the view does not support the dataset's kind of history
 */
export function networkView(dataset: Dataset, everyNode: EveryNode): DeclaredView {
  const parts = partsOf(dataset, everyNode);
  const { name, key, content, asked } = parts;
  const telling = HISTORY_SQL[dataset.history]?.(parts);
  if (!telling) throw new Error(`${name}: a ${dataset.history} cannot be reported by every node`);
  const shown = [...key, ...content];
  const { differs, otherwise } = comparison(parts);
  const keys = key.map((column) => `g.${column.name}`).join(', ');
  const most = 'g.known desc, cardinality(g.nodes) desc, g.said_at desc, g.nodes';
  const [first, last] = keys
    ? [`distinct on (${keys}) `, `order by ${keys}, ${most}`]
    : ['', `order by ${most} limit 1`];
  const things = `partition by ${keys || 'true'}`;
  const looks = [
    `t.target ->> 'node' as node`,
    ...asked.map((one) => `t.target ->> '${one}' as ${snakeCase(one)}`),
  ];
  const columns = sortAsReleased(`network_${name}`, [
    ...shown.map(({ name: column, type, comment, nullable }) => ({
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
      comment: 'Who says so, by name; who leaves out a field, but says nothing else, says so, too.',
    },
    {
      name: 'dissenting_nodes',
      select: 'o.disagreeing',
      type: 'jsonb',
      comment: `By node that says otherwise: the columns that it says otherwise, with its values${telling.absence ? '; null: it does not list the thing, though it was asked' : ''}. Null: none.`,
    },
    ...telling.more.map(({ from, ...column }) => ({ ...column, select: `o.${column.name}` })),
  ]);
  const body = `with looks as (
  select ${[...looks, ...telling.looks].join(', ')}
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  where d.dataset = '${name}' and ${telling.watched}
  group by ${looks.map((_, at) => at + 1).join(', ')}
)
select ${columns.map((column) => `${column.select} as ${column.name}`).join(', ')}
from (
  select ${first}g.*, count(*) over (${things}) as sayings, sum(g.known) over (${things}) as all_known
  from (
    select ${[
      ...key.map((column) => `s.${column.name}`),
      ...content.map((column) => `${comparedValueSql(column, 's')} as ${column.name}`),
      'array_agg(s.node order by s.node) as nodes',
      ...telling.group,
    ].join(', ')}
    from looks l
    join ${telling.said} and ${sameTarget(parts, 's', 'l')}
    group by ${shown.map((_, at) => at + 1).join(', ')}
  ) g
  ${last}
) t
left join lateral (
  select array_agg(s.node order by s.node) filter (where s.node is not null and ${agrees(parts, 's')}) as nodes,
    jsonb_object_agg(l.node, case when s.node is not null then ${otherwise} end)
      filter (where ${telling.absence ? `(s.node is null or ${differs})` : differs} and ${telling.knows}) as disagreeing${telling.more.map((column) => `,\n    ${column.from} as ${column.name}`).join('')}
  from looks l
  ${telling.absence ? 'left ' : ''}join ${telling.said} and s.node = l.node and ${sameThing(parts, 's', 't')}${telling.compared}
  where ${[...asked.map((one) => `l.${snakeCase(one)} = t.${snakeCase(one)}`), telling.compare].join(' and ')}
) o on true`;
  return {
    kind: 'view',
    name: `network_${name}`,
    comment: `What the nodes say of the same thing in ${name}, one row a thing as most nodes say it.`,
    columns: columns.map(({ select, ...column }) => column),
    body,
  };
}

/**
 * Returns the view `D_disagreements` of a log that every node reports: the rows of `network_D` with
 * disagreements. Agreeing rows are not compared, so the view can be queried over years of blocks.
 * @param network the view `network_D`
 */
export function disagreementsView(telling: ContradictionRule, network: DeclaredView): DeclaredView {
  const { name } = telling.dataset;
  const same = telling.thing.map((column) => `n.${column} = c.${column}`).join(' and ');
  const columns = sortAsReleased(`${name}_disagreements`, network.columns);
  // `offset 0` makes PostgreSQL look up each key.
  const body = `select ${columns.map((column) => `t.${column.name}`).join(', ')}
from (${possibleContradictionsSql(telling)}) c
cross join lateral (select * from reporting.${network.name} n where ${same} offset 0) t
where t.dissenting_nodes is not null`;
  return {
    kind: 'view',
    name: `${name}_disagreements`,
    comment: `What of ${network.name} nodes say differently, one row a thing as most nodes say it.`,
    columns,
    body,
  };
}

const HISTORY_SQL: Partial<Record<Dataset['history'], (parts: Parts) => HistorySql>> = {
  // A node without a row may never have received a request for the entity. So only other values are a disagreement.
  log: ({ name }) => ({
    looks: [],
    watched: 'true',
    said: `recorder.${name} s on s.superseded_at is null`,
    group: ['count(*) as known', 'max(s.recorded_at) as said_at'],
    compared: '',
    compare: 't.sayings > 1',
    knows: 'true',
    more: [],
  }),
  /*
   * Nodes follow the chain and are polled minutes apart. So a difference counts only if it also existed one
   * interval before. Only a node whose last observation is complete and not late knows the present values.
   * The start of a version does not show since when nodes differ, because columns that are each node's own
   * also create new versions.
   */
  state: (parts) => ({
    looks: [
      `max(d.last_complete_at) filter (where ${KNOWS_PRESENT_VALUES}) as looked_at`,
      `count(max(d.last_complete_at) filter (where ${KNOWS_PRESENT_VALUES})) over (partition by ${parts.asked.length > 0 ? parts.asked.map((one) => `t.target ->> '${one}'`).join(', ') : 'true'}) as lookers`,
      'max(greatest(d.first_success_at, d.requested_since)) as first_at',
      `make_interval(secs => max(d.every_ms) / 1000.0) as every`,
    ],
    watched: 'true',
    said: `recorder.${parts.name} s on s.valid_to is null`,
    group: [
      'count(l.looked_at) as known',
      'max(s.valid_from) as said_at',
      'max(l.looked_at) as looked_at',
      'max(l.lookers) as lookers',
    ],
    absence: true,
    compared: `
  cross join lateral (select least(l.looked_at, t.looked_at) - l.every as at) before`,
    compare: '(t.sayings > 1 or t.all_known < t.lookers)',
    knows: `l.looked_at is not null and t.looked_at is not null and l.first_at <= before.at
        and not exists (select from ${saidBefore(parts, 'l.node')})
        and exists (select from unnest(t.nodes) n(node) cross join lateral ${saidBefore(parts, 'n.node')})`,
    more: [],
  }),
  // The newest reading of each node. Readings of different moments may differ, which is no contradiction.
  sample: (parts) => ({
    looks: [],
    watched: 'd.left_at is null',
    said: `lateral (
      select * from reporting.${parts.name} r where ${sameTarget(parts, 'r', 'l')} and r.observed_at = ${parts.lastLook} limit 1
    ) s on true`,
    group: ['count(*) as known', 'max(s.observed_at) as said_at'],
    compared: '',
    compare: 'true',
    knows: 'true',
    more: [
      {
        name: 'readings',
        type: 'jsonb',
        notNull: true,
        comment: 'By node: its newest reading, and when it was taken.',
        from: `jsonb_object_agg(s.node, jsonb_build_object(${[...parts.content.map((column) => column.name), 'observed_at'].map((one) => `'${one}', s.${one}`).join(', ')}))`,
      },
    ],
  }),
};

/**
 * SQL of whether the last observation of a target has the present values. Late means the same as in
 * `reporting.findings`.
 */
const KNOWS_PRESENT_VALUES = `d.active and d.failures = 0 and d.unsupported_reason is null and d.incomplete_since is null
      and d.last_complete_at >= now() - make_interval(secs => 3 * d.every_ms / 1000.0)`;

/** Returns the key of an entity that every node reports: the natural key without the node. */
export const getEntityKey = ({ columns, key }: Dataset): readonly DatasetColumn[] =>
  columns.filter(({ name }) => name !== 'node' && key.includes(name));

function partsOf(dataset: Dataset, { own, at }: EveryNode): Parts {
  return {
    name: dataset.name,
    key: getEntityKey(dataset),
    content: comparedColumns(dataset).filter(({ name }) => !own.includes(name)),
    asked: dataset.request.filter((one) => one !== 'node'),
    lastLook:
      dataset.history === 'sample'
        ? lastObservationSql(
            packingOf(dataset),
            dataset.request.map((one) => `l.${snakeCase(one)}`),
          )
        : 'null',
    at,
  };
}

/** Returns SQL of whether a row belongs to the node and the target of `l`. */
const sameTarget = ({ asked }: Parts, row: string, looks: string) =>
  ['node', ...asked.map(snakeCase)].map((column) => `${row}.${column} = ${looks}.${column}`).join(' and ');

/** Returns SQL of whether two rows are about the same entity. */
const sameThing = ({ key }: Parts, left: string, right: string) =>
  key
    .map(
      ({ name, nullable }) =>
        `${keyColumnSql(name, nullable, left)} = ${keyColumnSql(name, nullable, right)}`,
    )
    .join(' and ') || 'true';

/**
 * Returns SQL of the row of a node at the moment `before.at`, if it had the values that are shown: a FROM
 * item and a condition.
 */
const saidBefore = (parts: Parts, node: string) => `(
          select * from recorder.${parts.name} r where r.node = ${node} and ${sameThing(parts, 'r', 't')} and r.valid_from <= before.at
          order by r.valid_from desc limit 1
        ) h where (h.valid_to is null or h.valid_to > before.at) and ${agrees(parts, 'h')}`;

const different = (column: DatasetColumn, row: string) =>
  `${comparedValueSql(column, row)} <> t.${column.name}`;

const anyDifferent = (columns: readonly DatasetColumn[], row: string) =>
  columns.length === 0 ? 'false' : `((${columns.map((one) => different(one, row)).join(' or ')}) is true)`;

/** Returns SQL of whether no field of a row differs from the values that are shown. */
const agrees = ({ content }: Parts, row: string) => `not ${anyDifferent(content, row)}`;

/**
 * Returns SQL of whether the row of a node differs from the values that are shown, and SQL of its differing
 * values, as jsonb.
 */
function comparison({ content, at }: Parts) {
  const same = at === undefined ? '' : ` and s.${at} = t.${at}`;
  const otherwise = content.map(
    (one) =>
      `case when ${different(one, 's')} then jsonb_build_object('${one.name}', ${comparedValueSql(one, 's')}) else '{}' end`,
  );
  return {
    differs: `(${anyDifferent(content, 's')}${same})`,
    otherwise: otherwise.join(' || ') || `'{}'::jsonb`,
  };
}
