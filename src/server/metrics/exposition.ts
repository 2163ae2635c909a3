import type { Buckets, Family, Sample } from './family.ts';

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
