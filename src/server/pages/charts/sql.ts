import { literal } from '../../../db/declared.ts';
import { type Drawing, valuesOf } from './read-lines.ts';

/** The statement with all points of a chart, for one moment of knowledge: it is asked with that moment. */
export function sqlOf(
  { chartable: { dataset, source }, column, things, window }: Drawing,
  moment: Date | null,
) {
  const { time, needed } = source;
  const [from, to] = window.map((one) => literal(one.toISOString()));
  const conditions = [
    ...Object.entries(things).map(
      ([name, values]) =>
        `${name} in (${valuesOf(values)
          .map((one) => literal(one))
          .join(', ')})`,
    ),
    `${time} >= ${from}`,
    `${time} < ${to}`,
    ...(dataset.kind === 'series' ? ['vanished_at is null'] : []),
    // Readings have no versions: what was known is what had been read.
    ...(moment && dataset.kind !== 'series' ? [`${time} <= ${literal(moment.toISOString())}`] : []),
  ];
  return {
    sql: `select ${[time, ...needed, column].join(', ')}\nfrom ${dataset.name}\nwhere ${conditions.join('\n  and ')}\norder by ${[time, ...needed].join(', ')}`,
    asOf: dataset.kind === 'series' ? moment : null,
  };
}
