import { z } from 'zod';
import type { ChartSource } from '../../../reporting/relations/chart-sources.ts';
import { limitedText } from '../../../reporting/relations/filters.ts';
import { invalidParameter } from '../../../reporting/relations/invalid-request.ts';
import { toIsoTime } from '../../../reporting/relations/values.ts';
import { definePage } from '../page.ts';
import { LineChart } from '../parts/line-chart.tsx';
import { Empty } from '../parts/table.tsx';
import { asOfParam } from '../query/query-parameters.ts';
import { momentText, numberText } from '../texts.ts';
import { type ChartRequest, parseChartRequest } from './chart-data.ts';
import { drawables, lineParameters } from './drawables.ts';
import { unitOf, windowOfRecord } from './drawn-window.ts';
import { ChartChoice, ChartForm } from './form.tsx';
import { type ChartTarget, completeKeys, readTargets } from './known-values.ts';
import { chartLink } from './link.ts';
import { Points } from './points.tsx';
import { type DrawnLine, type DrawnLines, readChartLines } from './read-lines.ts';
import { chartOf, Zoom } from './zoom.tsx';

const names = [...drawables.keys()];
const grains = ['', 'hour', 'day', 'month', 'year'] as const;
/** Start or end of the window. */
const edge = asOfParam.transform((text) => (text === null ? null : new Date(text)));
const paramsSchema = z.strictObject({
  of: z.enum(names, { error: `must be one of ${names.join(', ')}` }).default('metric_points'),
  // A form sends each selected value as a separate parameter.
  column: z.union([limitedText, z.array(limitedText).transform((all) => all.join(','))]).optional(),
  by: z.enum(grains, { error: 'must be hour, day, month or year' }).default(''),
  from: edge,
  to: edge,
  as_of: asOfParam,
  beside: asOfParam,
  ...Object.fromEntries(lineParameters.map((name) => [name, limitedText.optional()])),
});

/**
 * Chart source, request, suggestions and lines of a chart.
 */
interface ChartData {
  readonly drawable: ChartSource;
  /** Recorded targets, as suggestions of the form. */
  readonly targets: readonly ChartTarget[];
  readonly drawing: ChartRequest;
  /** Required keys that the request does not contain. */
  readonly missing: readonly string[];
  /** Lines of the chart; null if required keys are missing. */
  readonly found: DrawnLines | null;
}

/** `/charts`: numbers over time, as of now or past moments. The URL contains all parameters of the view. */
export const chartsPage = definePage({
  path: '/charts',
  params: paramsSchema,
  async read({ read, clock }, params): Promise<ChartData> {
    const { of, column, by, from, to, as_of, beside, ...others } = params;
    const drawable = drawables.get(of);
    if (!drawable) throw invalidParameter('of', 'is not the name of a data source');
    const now = clock();
    const selected = Object.fromEntries(
      Object.entries(others).flatMap(([name, value]) =>
        typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : [],
      ),
    );
    return read(async (sql) => {
      const targets = await readTargets(sql, drawable, selected);
      const requested = { column: column || undefined, by: by || undefined, from, to, as_of, beside };
      const drawing = parseChartRequest(
        drawable,
        { ...requested, selected: completeKeys(selected, targets, drawable.needed) },
        now,
      );
      const missing = drawable.needed.filter((name) => drawing.keyValues[name] === undefined);
      const found = missing.length === 0 ? await readChartLines(sql, drawing, clock) : null;
      return { drawable, targets, drawing, missing, found };
    });
  },
  content: ({ drawable, targets, drawing, missing, found }, params) => ({
    title: `${drawable.title} · Charts`,
    islands: ['charts'],
    body: (
      <>
        <div class="head">
          <h1>Charts</h1>
          <ChartChoice chosen={drawable} />
        </div>
        <p class="soft">
          <strong>
            {drawable.heading}: {drawable.title}.
          </strong>{' '}
          {drawable.about}
        </p>
        <ChartForm targets={targets} drawing={drawing} params={params} />
        {found === null ? (
          <Empty>
            {drawable.dataset && targets.length === 0 && 'This dataset has no rows yet. '}
            Select the values to draw: {missing.join(', ')}. Separate several values by commas; each becomes a
            line.
          </Empty>
        ) : (
          <Drawn drawing={drawing} found={found} begins={params.from === null} fixed={params.to !== null} />
        )}
      </>
    ),
  }),
});

/**
 * A chart, the links that move its window, and its points.
 * @param begins whether the start of the window is a default, so that the window starts at the first point
 * @param fixed whether the request contains the end of the window
 */
function Drawn({
  drawing,
  found: { lines, of, missing, unreadBefore },
  begins,
  fixed,
}: {
  readonly drawing: ChartRequest;
  readonly found: DrawnLines;
  readonly begins: boolean;
  readonly fixed: boolean;
}) {
  const { drawable, columns, window, moments } = drawing;
  const [from, to] = window;
  const each = lines.length / moments.length;
  const revised = new Set(lines.flatMap(({ marks = [] }) => marks)).size;
  return (
    <>
      {missing.map((why) => (
        <Empty>{why}</Empty>
      ))}
      {(unreadBefore === null || unreadBefore < to) && (
        <LineChart
          lines={lines}
          title={`${drawable.title}: ${columns.join(', ')}, ${momentText(from)} to ${momentText(to)}`}
          window={windowOfRecord([from.getTime(), to.getTime()], lines, begins)}
          draws={drawable.draws}
          unit={unitOf(drawable.values.filter(({ name }) => columns.includes(name)))}
          selectsWindow
        />
      )}
      {unreadBefore && <UnreadNotice drawing={drawing} lines={lines} before={unreadBefore} />}
      <Zoom drawing={drawing} fixed={fixed} />
      {of > each && (
        <p class="soft">
          Only {Math.floor(each)} of {numberText(of)} lines are drawn: those with the greatest values. Select
          other lines above.
        </p>
      )}
      {moments.length > 1 && lines.length > 0 && (
        <p class="soft">
          {revised === 0
            ? 'None of the drawn points differs between the two moments.'
            : `${numberText(revised)} of the drawn points differ between the two moments and are marked.`}
        </p>
      )}
      <Points drawing={drawing} lines={lines} unreadBefore={unreadBefore} />
    </>
  );
}

/**
 * Notice that a part of the window was not read in time. Contains a link to the unread part, unless no part
 * was read. The island `charts` fetches the unread part and adds its points to the lines.
 * @param before start of the part that is drawn
 */
export function UnreadNotice({
  drawing,
  lines,
  before,
}: {
  readonly drawing: ChartRequest;
  readonly lines: readonly DrawnLine[];
  readonly before: Date;
}) {
  if (before >= drawing.window[1])
    return (
      <p class="soft" data-unread={before.getTime()}>
        Even the newest part of this window takes too long to read for a page. Choose a shorter window or
        fewer lines.
      </p>
    );
  // The unread part ends after the first drawn points, because the time between them and the previous points
  // determines whether there is a gap.
  const joins = Math.max(before.getTime(), ...lines.map(({ points }) => (points[0]?.[0] ?? 0) + 1));
  const params = chartOf(drawing);
  // The link selects the same lines and the same grain.
  const selected = { ...params.selected, ...keysOfLines(drawing, lines) };
  const rest = chartLink({ ...params, selected, by: drawing.grain, to: new Date(joins) });
  return (
    <p class="soft" data-unread={before.getTime()}>
      The chart starts at {momentText(before)}: reading the whole window exceeds the time limit of a page.{' '}
      <a href={rest}>Load the earlier points</a>
    </p>
  );
}

/**
 * Returns the keys of the lines by column, for a URL. Omits columns that are empty for a line or whose values
 * contain a comma.
 */
function keysOfLines(
  { drawable }: ChartRequest,
  lines: readonly DrawnLine[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    drawable.keys.flatMap(({ name, type }) => {
      const values = lines.flatMap(({ of }) => of[name] ?? []);
      const isSelectable =
        lines.length > 0 && values.length === lines.length && !values.some((one) => one.includes(','));
      const texts = type === 'timestamptz' ? values.map(toIsoTime) : values;
      return isSelectable ? [[name, [...new Set(texts)].join(',')]] : [];
    }),
  );
}
