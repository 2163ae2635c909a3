import type { DeclaredColumn } from '../../db/declared.ts';
import { relationSql } from '../views/declared-objects.ts';
import type { DatasetRelations } from './catalogue.ts';
import type { Relation } from './relation.ts';

/** Columns with metadata of the recording, not with recorded content. */
const RECORDING_COLUMNS: ReadonlySet<string> = new Set([
  'version_id',
  'run_id',
  'valid_from',
  'valid_to',
  'differs',
  'vanished',
  'ended_by',
  'observed_at',
  'started_at',
  'ended_at',
  'is_open',
  'probes',
]);

/**
 * All versions of the rows of a dataset. Each version has its start (`begins`), its end (`ends`), and
 * `ends_alone`: true if the version can end without a next version that starts at the same time.
 */
export interface Versions {
  /** The relation, for the types of columns. */
  readonly relation: Relation;
  /**
   * SQL of a FROM item with the columns of the key (and the number of the series if rows have one),
   * `content`, `begins`, `ends` and `ends_alone`.
   */
  readonly from: string;
  /**
   * The FROM items of which `from` consists. Rows of each part can be found by the index of the key, rows of
   * `from` cannot.
   */
  readonly parts: readonly string[];
  /** The columns with the content of a version. */
  readonly content: readonly DeclaredColumn[];
  /**
   * Only if versions are computed: the function of `reporting` that returns the key and content of the
   * versions that are valid at a moment. Otherwise null.
   */
  readonly at: string | null;
}

/**
 * Returns the versions of the rows of a dataset.
 */
export function versionsOf({ kind, now, history, begins, ends }: DatasetRelations): Versions {
  const relation = history ?? now;
  const keyed = new Set([
    ...now.key.map((column) => column.name),
    ...(relation.numbered ? [relation.numbered.number] : []),
  ]);
  const content = relation.columns.filter((one) => !keyed.has(one.name) && !RECORDING_COLUMNS.has(one.name));
  const columns = [...keyed, ...content.map((column) => column.name)].map((one) => `"${one}"`).join(', ');
  // In the view, the end of an open interval of a ledger is the settled time, although the interval continues.
  const until =
    ends === null ? 'null::timestamptz' : kind === 'ledger' ? `case when not is_open then ${ends} end` : ends;
  const alone = kind === 'state' ? `ended_by <> 'changed'` : 'true';
  const of = (view: string) =>
    `select ${columns}, ${begins} as begins, ${until} as ends, ${alone} as ends_alone from ${relationSql(view)}`;
  const selects = (relation.parts ?? [relation.name]).map(of);
  const parts = selects.map((one) => `(${one})`);
  const at = kind === 'ledger' ? `${relation.name}_at` : null;
  return { relation, from: `(${selects.join(' union all ')})`, parts, content, at };
}

/**
 * Returns SQL of a FROM item with the versions known at a moment, in the columns of their view. A version
 * that ended later was still valid then. The counters of an open interval of a ledger change until the
 * interval ends; past values of these counters are not kept.
 * @param at SQL of the moment
 */
export function versionsKnownAt({ kind, begins }: DatasetRelations, history: Relation, at: string): string {
  const then = kind === 'ledger' ? LEDGER_COLUMNS_AT : STATE_COLUMNS_AT;
  const columns = history.columns.map(({ name }) => `${then[name]?.(at) ?? `v."${name}"`} as "${name}"`);
  return `(select ${columns.join(', ')} from ${relationSql(history.name)} v where v.${begins} <= ${at})`;
}

/** The columns that change while a version is valid, with SQL of their value at a past moment. */
type ColumnsAt = Readonly<Record<string, (at: string) => string>>;
const STATE_COLUMNS_AT: ColumnsAt = {
  valid_to: (at) => `case when v.valid_to <= ${at} then v.valid_to end`,
  ended_by: (at) => `case when v.valid_to <= ${at} then v.ended_by end`,
};
const LEDGER_COLUMNS_AT: ColumnsAt = {
  ended_at: (at) => `least(v.ended_at, ${at})`,
  is_open: (at) => `(v.is_open or v.ended_at > ${at})`,
  probes: (at) => `case when v.ended_at <= ${at} then v.probes end`,
  failures: (at) => `case when v.ended_at <= ${at} then v.failures end`,
  last_error: (at) => `case when v.ended_at <= ${at} then v.last_error else v.error end`,
  last_message: (at) => `case when v.ended_at <= ${at} then v.last_message else v.message end`,
};
