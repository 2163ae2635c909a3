import type postgres from 'postgres';
import type { Config } from '../../config/schema.ts';
import type { BudgetKey } from '../../db/budget-key.ts';
import type { DiskUse } from '../../reporting/reports/disk.ts';
import type { Status } from '../../reporting/reports/status.ts';
import type { ProcessCounts } from './process-counts.ts';

/** Name, type, description and labels of a metric. */
export interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** A histogram of durations: the ascending ends of the buckets in seconds, each with its cumulative count. */
export interface Buckets {
  readonly upTo: readonly (readonly [end: number, count: number])[];
  readonly count: number;
  /** Sum of all durations, in seconds. */
  readonly sum: number;
}

/** A series of a family, and its current value. */
export interface Sample {
  readonly family: Family;
  /** Values of the labels, in the order of the family. */
  readonly labels: readonly string[];
  readonly value: number | Buckets;
}

/** A family that creates its own samples. */
type Sampler<Value> = Family & {
  /** @param labels the values of the labels of the series, in order */
  of(value: Value, ...labels: readonly string[]): Sample;
};

const sampler =
  <Value extends number | Buckets>(type: Family['type']) =>
  (name: string, help: string, ...labels: readonly string[]): Sampler<Value> => {
    const family = { name, type, help, labels };
    return { ...family, of: (value, ...values) => ({ family, labels: values, value }) };
  };

/** Declares a gauge. */
export const gauge = sampler<number>('gauge');
/** Declares a counter: a value that only grows, or restarts at 0. */
export const counter = sampler<number>('counter');
/** Declares a histogram of seconds. */
export const histogram = sampler<Buckets>('histogram');

export interface MetricSources {
  readonly sql: postgres.Sql;
  readonly status: () => Promise<Status>;
  readonly disk: () => Promise<DiskUse>;
  /** The displayed budgets. */
  readonly budgets: readonly BudgetKey[];
  readonly upstreams: Config['upstreams'];
  readonly counts: ProcessCounts;
}

/**
 * Metrics that are read together. If a part cannot be read, the other parts are still exposed. The cost of a
 * read depends on the current number of targets, nodes and checks, not on the length of the record.
 */
export interface MetricPart {
  /** Value of the label `collector`, and heading of the part in the documentation. */
  readonly name: string;
  /** Meaning and source of the part: one or two sentences of Markdown. */
  readonly about: string;
  readonly families: readonly Family[];
  /** Cache time, in ms. Default: 1 000. */
  readonly ttlMs?: number;
  /**
   * Creates the reader. Called once per server, so that the reader can keep state between reads.
   * @returns the reader, which rejects if the metrics cannot be read
   */
  reader(sources: MetricSources): () => Promise<readonly Sample[]>;
}

/** A value of a row. Dates are exposed as Unix time, booleans as 1 or 0; null has no sample. */
type MetricValue = number | boolean | Date | null;

/** A row from which metrics are read. A metric has no sample if its column is missing in the row. */
export type MetricRow = Readonly<Record<string, MetricValue | string | undefined>>;

interface MetricTable extends Omit<MetricPart, 'families' | 'reader'> {
  /** Metrics by the column that contains the value. Labels are read from the columns of the same name. */
  readonly metrics: Readonly<Record<string, Family>>;
  readonly rows: (sources: MetricSources) => Promise<readonly MetricRow[]>;
}

/** Returns the samples of all metrics for which a row has a value. */
export function samplesIn(metrics: MetricTable['metrics'], rows: readonly MetricRow[]): Sample[] {
  return Object.entries(metrics).flatMap(([column, family]) =>
    rows.flatMap((row) => {
      const value = row[column];
      if (value === null || value === undefined) return [];
      const number = value instanceof Date ? value.getTime() / 1000 : Number(value);
      return [{ family, labels: family.labels.map((label) => String(row[label])), value: number }];
    }),
  );
}

/** Declares a part in which each metric is a column of rows. */
export const metricTable = ({ metrics, rows, ...part }: MetricTable): MetricPart => ({
  ...part,
  families: Object.values(metrics),
  reader: (sources) => async () => samplesIn(metrics, await rows(sources)),
});

/**
 * Returns samples in Prometheus' text format. prom-client formats only its own counters, and most of these
 * values are read from the database. If a series occurs twice, the last value is used, because Prometheus
 * would reject duplicates.
 */
export function exposition(samples: readonly Sample[]): string {
  const families = new Map<string, { family: Family; series: Map<string, Sample['value']> }>();
  for (const { family, labels, value } of samples) {
    const { series } = families.get(family.name) ?? { series: new Map<string, Sample['value']>() };
    series.set(labelsOf(family, labels), value);
    families.set(family.name, { family, series });
  }
  const blocks = [...families.values()].map(({ family: { name, help, type }, series }) =>
    [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
      ...[...series].flatMap(([labels, value]) =>
        typeof value === 'number' ? line(name, labels, value) : bucketLines(name, labels, value),
      ),
    ].join('\n'),
  );
  return blocks.map((block) => `${block}\n`).join('\n');
}

function labelsOf({ labels }: Family, values: readonly string[]): string {
  return labels.map((label, at) => `${label}="${escaped(values[at] ?? '')}"`).join(',');
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

const line = (name: string, labels: string, value: number) =>
  `${name}${labels === '' ? '' : `{${labels}}`} ${numberOf(value)}`;

function bucketLines(name: string, labels: string, { upTo, count, sum }: Buckets): string[] {
  const within = (end: string) => [labels, `le="${end}"`].filter((part) => part !== '').join(',');
  return [
    ...upTo.map(([end, most]) => line(`${name}_bucket`, within(String(end)), most)),
    line(`${name}_bucket`, within('+Inf'), count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ];
}

function numberOf(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
