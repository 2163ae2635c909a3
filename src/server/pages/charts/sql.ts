import { pointsOf } from '../../../reporting/relations/lines.ts';
import { LiteralStatementBuilder } from '../../../reporting/relations/statement.ts';
import type { ChartRequest } from './chart-data.ts';

/**
 * Returns the statement for all points of a chart.
 * @param moment moment of the record; null for now
 */
export function sqlOf({ drawable, ...question }: ChartRequest, moment: string | null): string {
  const { rows, conditions, at, ends, values, of, counted } = pointsOf(
    drawable,
    { ...question, asOf: moment },
    new LiteralStatementBuilder(),
  );
  const columns = [
    `${counted === null ? at : `date_trunc('${counted}', ${at}, 'UTC')`} as at`,
    ...(ends === null ? [] : [`${ends} as until`]),
    ...of,
    ...(counted === null ? values.map(([, value]) => value) : ['count(*)']),
  ];
  return [
    `select ${columns.join(', ')}`,
    `from ${rows} as r`,
    ...(conditions.length > 0 ? [`where ${conditions.join('\n  and ')}`] : []),
    ...(counted === null
      ? []
      : [
          `group by ${columns
            .slice(0, -1)
            .map((_, place) => place + 1)
            .join(', ')}`,
        ]),
    'order by 1',
  ].join('\n');
}
