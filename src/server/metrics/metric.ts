import type postgres from 'postgres';
import type { Config } from '../../config/schema.ts';
import type { BudgetKey } from '../../db/budget-key.ts';
import type { DiskUse } from '../../reporting/reports/disk.ts';
import type { Status } from '../../reporting/reports/status.ts';
import type { ProcessCounts } from './process-counts.ts';

/** A metric by its name: its meaning and the labels of its series. */
export interface Family {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** A histogram of durations: the end of each bucket in seconds, ascending, and the number of durations up to it. */
export interface Buckets {
  readonly upTo: readonly (readonly [end: number, count: number])[];
  readonly count: number;
  /** Seconds in all. */
  readonly sum: number;
}

/** One series of a family, and its value now. */
export interface Sample {
  readonly family: Family;
  /** Along the labels of the family. */
  readonly labels: readonly string[];
  readonly value: number | Buckets;
}

/** A family that makes samples of itself. */
type Sampler<Value> = Family & {
  /** @param labels the values of its labels, in their order */
  of(value: Value, ...labels: readonly string[]): Sample;
};

const sampler =
  <Value extends number | Buckets>(type: Family['type']) =>
  (name: string, help: string, ...labels: readonly string[]): Sampler<Value> => {
    const family = { name, type, help, labels };
    return { ...family, of: (value, ...values) => ({ family, labels: values, value }) };
  };

/** Declares what goes up and down. */
export const gauge = sampler<number>('gauge');
/** Declares a counter: it only grows, or restarts at 0. */
export const counter = sampler<number>('counter');
/** Declares a histogram of seconds. */
export const histogram = sampler<Buckets>('histogram');

/** What metrics are read from. */
export interface MetricSources {
  readonly sql: postgres.Sql;
  /** How the recording stands. */
  readonly status: () => Promise<Status>;
  /** How much space is taken. */
  readonly disk: () => Promise<DiskUse>;
  /** The allowances that are shown, and what the configuration says of them. */
  readonly budgets: readonly BudgetKey[];
  readonly upstreams: Config['upstreams'];
  /** What this process did. */
  readonly counts: ProcessCounts;
}

/**
 * Metrics that are read together. One that cannot be read costs no other one. Each read costs as much as there is now to
 * tell of (targets, nodes, checks), however long is recorded.
 */
export interface MetricPart {
  /** Its value of the label `part`. */
  readonly name: string;
  /** Meaning and source of the part: one or two sentences of Markdown. */
  readonly about: string;
  readonly families: readonly Family[];
  /** How long what was read is given again, ms; absent: a second. */
  readonly lasting?: number;
  /**
   * Makes the reader, once a server, so that it can keep what it needs the next time.
   * @returns what reads; it rejects when that is not possible
   */
  reader(sources: MetricSources): () => Promise<readonly Sample[]>;
}

/** A value of a row: instants become Unix time, booleans 1 or 0; null has no sample. */
type MetricValue = number | boolean | Date | null;

/** A row that metrics are read from. A metric has no sample of a row without its column. */
export type MetricRow = Readonly<Record<string, MetricValue | string | undefined>>;

interface MetricTable extends Omit<MetricPart, 'families' | 'reader'> {
  /** By the column that holds the value. Labels are columns by their own name. */
  readonly metrics: Readonly<Record<string, Family>>;
  readonly rows: (sources: MetricSources) => Promise<readonly MetricRow[]>;
}

/** Returns the samples of the metrics in rows. */
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

/** A part of which each metric is a column of rows. */
export const metricTable = ({ metrics, rows, ...part }: MetricTable): MetricPart => ({
  ...part,
  families: Object.values(metrics),
  reader: (sources) => async () => samplesIn(metrics, await rows(sources)),
});

/**
 * Samples in Prometheus' text format. prom-client writes only what it counted itself, and these are counted elsewhere. Of a
 * series that stands twice the last value counts: Prometheus would refuse both.
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
