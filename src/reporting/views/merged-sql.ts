import type { Dataset, DatasetColumn, EveryNode } from '../../datasets/contract.ts';
import { keyColumnSql } from '../../datasets/dataset.ts';
import { snakeCase } from '../../datasets/names.ts';
import type { DeclaredColumn } from '../../db/declared.ts';
import { comparedColumns, comparedValueSql } from '../../recording/histories/change-recording.ts';
import { lastObservationSql } from '../../recording/readings/forms.ts';
import { observationsViewName } from '../../recording/readings/reading-views.ts';
import { packingOf } from '../../recording/readings/value-encoding.ts';

/** The input of the SQL of a dataset that every node reports. */
interface Parts {
  readonly name: string;
  /** The name of the view with the rows of each node. */
  readonly relation: string;
  /** The key of an entity: the natural key without the node. */
  readonly key: readonly DatasetColumn[];
  /** The columns in which all nodes should agree. */
  readonly content: readonly DatasetColumn[];
  /** Keys of the target without the node. */
  readonly targetKeys: readonly string[];
  /** Readings can contradict each other only if they have the same value in this column. */
  readonly at: string | undefined;
  /** Only for readings: SQL of the time of the last observation of the target of the row `l`. */
  readonly lastObservation: string;
  /** SQL of the past moment; null for the present. */
  readonly past: string | null;
}

/**
 * The SQL parts of the merged view for a kind of history. In these parts, `l` is the row of `observations`
 * for a node, `s` is a row of that node, and `t` is the row with the values of the majority.
 */
interface HistorySql {
  /** Additional columns of `observations`. */
  readonly observations: readonly string[];
  /** Additional FROM items of `observations`. */
  readonly observationsFrom: string;
  /** SQL condition for targets whose rows are compared. */
  readonly watched: string;
  /** The FROM item `s` and the start of the condition of its join. */
  readonly rows: string;
  /**
   * Columns for each group of nodes with the same values: `known` (the number of nodes whose present values
   * are known), `newest_at` (the newest time of the rows of the group), and columns that the comparison
   * needs.
   */
  readonly group: readonly string[];
  /** Set if nodes without a row are compared, too. */
  readonly absence?: true;
  /** Additional FROM items of the comparison. */
  readonly compared: string;
  /** The condition for entities whose nodes must be compared one by one. */
  readonly compare: string;
  /** The condition under which a difference of a node counts as a disagreement. */
  readonly comparable: string;
  /** Additional columns of the view, which the comparison computes. */
  readonly more: readonly (DeclaredColumn & { readonly from: string })[];
}

export const HISTORY_SQL: Partial<Record<Dataset['history'], (parts: Parts) => HistorySql>> = {
  // A missing row is no disagreement, because the entity may never have been requested from that node.
  log: (parts) => ({
    observations: [],
    observationsFrom: '',
    watched: 'true',
    rows: `${rowsAt(parts)} s on true`,
    group: ['count(*) as known', 'max(s.valid_from) as newest_at'],
    compared: '',
    compare: 't.variants > 1',
    comparable: 'true',
    more: [],
  }),
  /*
   * Compares the lists of nodes. Nodes process changes of the chain at different times and are polled minutes
   * apart. So a difference counts only if it also existed one polling interval earlier. The present values of
   * a node are known only if its last observation is complete and not late. The start of a version is not the
   * start of the difference, because changes of columns that are not compared also create new versions.
   */
  state: (parts) => ({
    observations: [
      `${lastKnownObservation(parts)} as observed_at`,
      `count(${lastKnownObservation(parts)}) over (partition by ${parts.targetKeys.length > 0 ? parts.targetKeys.map((one) => `d.target ->> '${one}'`).join(', ') : 'true'}) as observing_nodes`,
      'max(d.first_at) as first_at',
      'max(d.every) as every',
    ],
    observationsFrom: parts.past === null ? '' : coverageUntil(parts.past),
    watched: 'true',
    rows: `${rowsAt(parts)} s on true`,
    group: [
      'count(l.observed_at) as known',
      'max(s.valid_from) as newest_at',
      'max(l.observed_at) as observed_at',
      'max(l.observing_nodes) as observing_nodes',
    ],
    absence: true,
    compared: `
  cross join lateral (select least(l.observed_at, t.observed_at) - l.every as at) before`,
    compare: '(t.variants > 1 or t.all_known < t.observing_nodes)',
    comparable: `l.observed_at is not null and t.observed_at is not null and l.first_at <= before.at
        and not exists (select from ${agreedBefore(parts, 'l.node')})
        and exists (select from unnest(t.nodes) n(node) cross join lateral ${agreedBefore(parts, 'n.node')})`,
    more: [],
  }),
  // The newest reading of each node. Readings of different moments may differ, which is no contradiction.
  sample: (parts) => ({
    observations: [],
    observationsFrom: '',
    watched: parts.past === null ? 'd.left_at is null' : `(d.left_at is null or d.left_at > ${parts.past})`,
    rows: `lateral (
      select * from reporting.${parts.relation} r where ${sameTarget(parts, 'r', 'l')} and r.observed_at = ${parts.lastObservation} limit 1
    ) s on true`,
    group: ['count(*) as known', 'max(s.observed_at) as newest_at'],
    compared: '',
    compare: 'true',
    comparable: 'true',
    more: [
      {
        name: 'readings',
        type: 'jsonb',
        notNull: true,
        comment: 'The newest reading of each node, with its time.',
        from: `jsonb_object_agg(s.node, jsonb_build_object(${[...parts.content.map((column) => column.name), 'observed_at'].map((one) => `'${one}', s.${one}`).join(', ')}))`,
      },
    ],
  }),
};

/**
 * Returns SQL of the time of the last observation of a node; null if the values of the node at the requested
 * moment are unknown. For a past moment, the coverage determines the last observation.
 */
const lastKnownObservation = ({ past }: Parts) =>
  past === null
    ? 'max(d.observed_at)'
    : `max(c.observed_at) filter (where (d.left_at is null or d.left_at > ${past}) and c.observed_at >= ${past} - 3 * d.every)`;

/**
 * Returns SQL of a FROM item `c` with the last covered moment up to `past`. The moment is null if the
 * quarantine contained items of the target then, because the list was incomplete.
 */
const coverageUntil = (past: string) => `
  cross join lateral (
    select max(least(r.range_end - interval '1 ms', ${past})) as observed_at
    from reporting.coverage r where (r.dataset, r.target) = (d.dataset, d.target_key) and r.range_start <= ${past}
      and not exists (select from reporting.quarantine q where (q.dataset, q.target) = (d.dataset, d.target_key)
        and q.first_seen <= ${past} and q.last_seen >= ${past} - 3 * d.every)) c`;

/** Returns SQL of the rows of each node at the requested moment. */
const rowsAt = ({ relation, past }: Parts) =>
  past === null ? `reporting.${relation}` : `reporting.${relation}_as_of(${past})`;

/** Returns the key of an entity that every node reports: the natural key without the node. */
export const getEntityKey = ({ columns, key }: Dataset): readonly DatasetColumn[] =>
  columns.filter(({ name }) => name !== 'node' && key.includes(name));

/**
 * Returns SQL of the time of the last observation of the target of `l`. For a past moment, the SQL reads a
 * view instead of tables, because functions run with the rights of the reader.
 */
function lastTargetObservationSql(dataset: Dataset, past: string | null): string {
  const request = dataset.request.map(snakeCase);
  if (past === null)
    return lastObservationSql(
      packingOf(dataset),
      request.map((one) => `l.${one}`),
    );
  const same = request.map((one) => `k.${one} = l.${one}`).join(' and ');
  return `(
        select max(k.observed_at) from reporting_internal.${observationsViewName(dataset.name)} k where ${same} and k.observed_at <= ${past})`;
}

export function partsOf(dataset: Dataset, { own, at }: EveryNode, past: string | null): Parts {
  return {
    name: dataset.name,
    relation: dataset.relation,
    past,
    key: getEntityKey(dataset),
    content: comparedColumns(dataset).filter(({ name }) => !own.includes(name)),
    targetKeys: dataset.request.filter((one) => one !== 'node'),
    lastObservation: dataset.history === 'sample' ? lastTargetObservationSql(dataset, past) : 'null',
    at,
  };
}

/** Returns SQL of whether a row belongs to the node and the target of `l`. */
export const sameTarget = ({ targetKeys }: Parts, row: string, observation: string) =>
  ['node', ...targetKeys.map(snakeCase)]
    .map((column) => `${row}.${column} = ${observation}.${column}`)
    .join(' and ');

/** Returns SQL of whether two rows are about the same entity. */
export const sameEntity = ({ key }: Parts, left: string, right: string) =>
  key
    .map(
      ({ name, nullable }) =>
        `${keyColumnSql(name, nullable, left)} = ${keyColumnSql(name, nullable, right)}`,
    )
    .join(' and ') || 'true';

/**
 * Returns SQL of a FROM item and a condition: the row of a node at the moment `before.at`, if that row had
 * the values of the majority.
 */
const agreedBefore = (parts: Parts, node: string) => `(
          select * from reporting.${parts.relation}_history r where r.node = ${node} and ${sameEntity(parts, 'r', 't')} and r.valid_from <= before.at
          order by r.valid_from desc limit 1
        ) h where (h.valid_to is null or h.valid_to > before.at) and ${agrees(parts, 'h')}`;

export const different = (column: DatasetColumn, row: string) =>
  `${comparedValueSql(column, row)} <> t.${column.name}`;

const anyDifferent = (columns: readonly DatasetColumn[], row: string) =>
  columns.length === 0 ? 'false' : `((${columns.map((one) => different(one, row)).join(' or ')}) is true)`;

/** Returns SQL of whether no field of a row differs from the values of the majority. */
export const agrees = ({ content }: Parts, row: string) => `not ${anyDifferent(content, row)}`;

/**
 * Returns SQL of whether the row of a node differs from the values of the majority, and SQL of the differing
 * values, as jsonb.
 */
export function comparison({ content, at }: Parts) {
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
