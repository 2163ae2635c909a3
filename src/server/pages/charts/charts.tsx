import { z } from 'zod';
import { written } from '../../../api/filters.ts';
import { BadRequest, definePage } from '../page.ts';
import { Empty } from '../parts/empty.tsx';
import { LineChart } from '../parts/line-chart.tsx';
import { moment } from '../query/question.ts';
import { momentText } from '../texts.ts';
import { type Chartable, chartables, thingColumns } from './chartable.ts';
import { ChartForm } from './form.tsx';
import { Points } from './points.tsx';
import { type Drawing, type DrawnLine, readLines } from './read-lines.ts';
import { Zoom } from './zoom.tsx';

const DAY = 86_400_000;
/** The window that is drawn unless told, ms. */
const WINDOW = { series: 90 * DAY, sample: 7 * DAY } as const;

const names = [...chartables.keys()];
const asked = z.strictObject({
  of: z.enum(names, { error: `must be one of ${names.join(', ')}` }).default('metric_points'),
  column: written.optional(),
  from: moment,
  to: moment,
  as_of: moment,
  beside: moment,
  ...Object.fromEntries(thingColumns.map((name) => [name, written.optional()])),
});

/** What is known of a dataset's things, for its form, and the lines; null: not everything that is needed was told. */
interface Found {
  readonly chartable: Chartable;
  readonly targets: readonly string[];
  readonly drawing: Drawing;
  readonly lines: readonly DrawnLine[] | null;
}

/** `/charts`: numbers over time, as known now or at past moments. A link reproduces the view. */
export const charts = definePage({
  path: '/charts',
  asked,
  async read({ read, clock }, told): Promise<Found> {
    const { of, column, from, to, as_of, beside } = told;
    const chartable = chartables.get(of);
    if (!chartable) throw new BadRequest(['of: is not known']);
    const { dataset, source } = chartable;
    const now = clock();
    const end = to ?? new Date(now);
    const begin = from ?? new Date(end.getTime() - WINDOW[dataset.kind === 'series' ? 'series' : 'sample']);
    if (begin >= end) throw new BadRequest(['from: must be before the end of the window']);
    const said: Readonly<Record<string, unknown>> = told;
    const things = Object.fromEntries(
      source.needed.flatMap((name) => {
        const value = said[name];
        return typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : [];
      }),
    );
    const drawing: Drawing = {
      chartable,
      column: column || (source.values[0]?.name ?? ''),
      things,
      window: [begin, end],
      moments: beside ? [as_of, beside] : [as_of],
    };
    return read(async (sql) => {
      const targets = await sql<{ target: string }[]>`
        select target from reporting.freshness where dataset = ${of} order by target limit 500`;
      const whole = source.needed.every((name) => things[name] !== undefined);
      const lines = whole ? await readLines(sql, drawing) : null;
      return { chartable, targets: targets.map(({ target }) => target), drawing, lines };
    });
  },
  content: ({ chartable, targets, drawing, lines }, told) => {
    const { dataset, source } = chartable;
    const missing = source.needed.filter((name) => drawing.things[name] === undefined);
    const [from, to] = drawing.window;
    return {
      title: 'Charts',
      body: (
        <>
          <div class="head">
            <h1>Charts</h1>
            <p class="soft">{dataset.about}</p>
          </div>
          <ChartForm chartable={chartable} targets={targets} drawing={drawing} told={told} />
          {lines === null ? (
            <Empty>
              Say what to draw: {missing.join(', ')}. Several values have commas between them, each is a line.
            </Empty>
          ) : (
            <>
              {lines.map(
                ({ label, missing: why }) => why !== null && <Empty key={label}>{`${label}: ${why}`}</Empty>,
              )}
              <LineChart
                lines={lines}
                title={`${drawing.column} of ${dataset.name}, ${momentText(from)} to ${momentText(to)}`}
                window={[from.getTime(), to.getTime()]}
              />
              <Zoom drawing={drawing} fixed={told.to !== null} />
              <Points drawing={drawing} lines={lines} />
            </>
          )}
        </>
      ),
    };
  },
});
