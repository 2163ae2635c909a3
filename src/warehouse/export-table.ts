import { catalog } from '../datasets/catalog.ts';
import type { Dataset, DatasetColumn } from '../datasets/contract.ts';
import type { Digits } from '../datasets/fields.ts';
import { tableRowsSql } from '../datasets/target-columns.ts';
import { nodeHealth } from '../health/node-health.ts';

/** Column of an exported table. */
export interface ExportColumn {
  readonly name: string;
  /** PostgreSQL type. */
  readonly type: string;
  readonly nullable: boolean;
  readonly digits?: Digits;
}

/**
 * A table that is exported into the files of one folder. Each row starts at an instant, and may end at
 * another instant.
 */
export interface ExportTable {
  /** Name of the folder, and of the table in the schema `recorder`. */
  readonly name: string;
  /** Name of the dataset in commands. */
  readonly dataset: string;
  /** Name of the same rows in `reporting`. */
  readonly relation: string;
  /** `series`, `log`, `state`, `sample`, or `ledger`. */
  readonly kind: string;
  /** Columns that identify a version, together with `from`. */
  readonly key: readonly string[];
  /** Column with the start of the version's validity; determines the day. */
  readonly from: string;
  /** Column with the end of the version's validity; null if versions do not end. */
  readonly to: string | null;
  readonly columns: readonly ExportColumn[];
  /** The dataset if the rows are readings, which are stored in several formats; otherwise null. */
  readonly readings: Dataset | null;
  /**
   * SQL of a FROM item with all columns of the rows, and `xmin`. For readings, only the readings that are
   * stored as single rows.
   */
  readonly rows: string;
}

const column = (name: string, type: string, nullable = false): ExportColumn => ({ name, type, nullable });
const runId = column('run_id', 'bigint');

/** Columns that each kind of history adds to the columns of the upstream. */
const versions = {
  series: [
    column('valid_from', 'timestamptz'),
    column('valid_to', 'timestamptz', true),
    column('vanished', 'boolean'),
    runId,
  ],
  state: [
    column('valid_from', 'timestamptz'),
    column('valid_to', 'timestamptz', true),
    column('ended_by', 'text', true),
    runId,
  ],
  log: [column('valid_from', 'timestamptz'), column('valid_to', 'timestamptz', true), runId],
  sample: [column('observed_at', 'timestamptz'), runId],
} as const;

const bounds = {
  series: { from: 'valid_from', to: 'valid_to' },
  state: { from: 'valid_from', to: 'valid_to' },
  log: { from: 'valid_from', to: 'valid_to' },
  sample: { from: 'observed_at', to: null },
} as const;

const upstreamColumns = (columns: readonly DatasetColumn[]): ExportColumn[] => [
  ...columns.map(({ name, type, nullable, digits }) => ({
    name,
    type,
    nullable,
    ...(digits ? { digits } : {}),
  })),
  column('extra', 'jsonb', true),
];

const tableOf = (dataset: Dataset): ExportTable => ({
  name: dataset.name,
  dataset: dataset.name,
  relation: dataset.relation,
  kind: dataset.history,
  key: dataset.key,
  ...bounds[dataset.history],
  columns: [...upstreamColumns(dataset.columns), ...versions[dataset.history]],
  readings: dataset.history === 'sample' ? dataset : null,
  rows: tableRowsSql(dataset, 'xmin'),
});

const ledger: ExportTable = {
  name: nodeHealth.name,
  dataset: nodeHealth.name,
  relation: nodeHealth.relation,
  kind: 'ledger',
  key: nodeHealth.key,
  from: 'started_at',
  to: 'ended_at',
  columns: [
    ...upstreamColumns(nodeHealth.columns),
    column('started_at', 'timestamptz'),
    column('ended_at', 'timestamptz', true),
    column('reported', 'boolean'),
    column('probes_before', 'bigint'),
    column('probes', 'bigint', true),
    column('failing_since', 'timestamptz', true),
    column('failures', 'bigint', true),
    column('last_error', 'text', true),
    column('last_message', 'jsonb', true),
  ],
  readings: null,
  rows: 'recorder.node_health',
};

/**
 * Intervals in which an observer did not probe. The ledger is complete only together with these intervals.
 */
const absences: ExportTable = {
  name: 'health_absences',
  dataset: nodeHealth.name,
  relation: 'health_absences',
  kind: 'ledger',
  key: ['observer'],
  from: 'started_at',
  to: 'ended_at',
  columns: [
    column('observer', 'text'),
    column('started_at', 'timestamptz'),
    column('ended_at', 'timestamptz'),
    column('reason', 'text'),
  ],
  readings: null,
  rows: 'recorder.health_absences',
};

/** All exported tables, in the order of the catalog. */
export const warehouseTables: readonly ExportTable[] = [...catalog.map(tableOf), ledger, absences];
