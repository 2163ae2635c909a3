import {
  type ChartGrain,
  type ChartSource,
  chooseChartGrain,
  endOfGrain,
  isTooFine,
  startOfGrain,
} from '../../../reporting/relations/chart-sources.ts';
import { getValueSchema } from '../../../reporting/relations/filters.ts';
import { InvalidRequestError, type ParameterProblem } from '../../../reporting/relations/invalid-request.ts';
import type { LinesQuery } from '../../../reporting/relations/lines.ts';

/** Parameters of a chart: its window, its lines, and the moments of the record. */
export interface ChartRequest extends Omit<LinesQuery, 'asOf'> {
  readonly drawable: ChartSource;
  /** True if the URL contains the grain. Otherwise the grain is chosen to fit the window. */
  readonly isGrainExplicit: boolean;
  /** Moments of the record, in a format that PostgreSQL parses; null: the current moment. */
  readonly moments: readonly (string | null)[];
}

/** Parameters of the URL, except for the chart source. */
export interface ChartParameters {
  readonly column: string | undefined;
  readonly by: ChartGrain | undefined;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly as_of: string | null;
  readonly beside: string | null;
  /** Selected values, by column or parameter. */
  readonly selected: Readonly<Record<string, string>>;
}

const DAY = 86_400_000;
/** Default length of the window for frequent values, such as readings and response times, in ms. */
const SHORT_WINDOW_MS = 7 * DAY;
/** Default length of the window for other values, in ms. */
const LONG_WINDOW_MS = 90 * DAY;
/** Maximum end of a window, in ms since 1970. Years have at most four digits. */
const LATEST = Date.UTC(9999, 11, 31);
/** Maximum number of values of one column. */
const MAX_VALUES = 50;

/**
 * Parses the parameters of a chart.
 * @param now ms since 1970
 * @throws InvalidRequestError with all invalid parameters
 */
export function parseChartRequest(
  drawable: ChartSource,
  parameters: ChartParameters,
  now: number,
): ChartRequest {
  const { dataset, keys, takes, grains, counted, past } = drawable;
  const problems: ParameterProblem[] = [];
  const refuse = (parameter: string, problem: string) => problems.push({ parameter, problem });
  const to = parameters.to ?? new Date(now);
  const often = dataset?.kind === 'sample' || (!counted && grains.includes('hour'));
  const from =
    parameters.from ?? new Date(Math.max(to.getTime() - (often ? SHORT_WINDOW_MS : LONG_WINDOW_MS), 0));
  if (from >= to) refuse('from', 'must be before the end of the window');
  if (!past && (parameters.as_of || parameters.beside))
    refuse('as_of, beside', `reporting.${drawable.name} has no history`);
  const columns = parameters.column === undefined ? drawable.usual : textsOf(parameters.column);
  const names = drawable.values.map(({ name }) => name);
  if (columns.some((one) => !names.includes(one)))
    refuse('column', `must be one or more of ${names.join(', ')}`);
  if (parameters.by !== undefined && !grains.includes(parameters.by))
    refuse(
      'by',
      grains.length > 0 ? `must be one of ${grains.join(', ')}` : 'is not supported for this chart',
    );
  else if (parameters.by !== undefined && isTooFine(parameters.by, to.getTime() - from.getTime()))
    refuse(
      'by',
      `the window has too many periods of one ${parameters.by}: choose a longer period or a shorter window`,
    );
  const types = new Map([...keys, ...takes].map(({ name, type }) => [name, type]));
  const known = Object.entries(parameters.selected).flatMap(([name, text]): [string, string[]][] => {
    const type = types.get(name);
    if (type === undefined)
      refuse(
        name,
        `is not a parameter of this chart; valid parameters: ${[...types.keys()].join(', ') || 'none'}`,
      );
    const values = keys.some((key) => key.name === name) ? textsOf(text) : [text];
    if (values.length > MAX_VALUES) refuse(name, `has more than ${MAX_VALUES} values`);
    const wrong = values
      .map((one) => getValueSchema(type ?? 'text').safeParse(one))
      .find((one) => !one.success);
    const [issue] = wrong?.error?.issues ?? [];
    if (issue) refuse(name, issue.message);
    return [[name, values]];
  });
  if (problems.length > 0) throw new InvalidRequestError(problems);
  const isKey = ([name]: readonly [string, unknown]) => keys.some((key) => key.name === name);
  const grain = parameters.by ?? chooseChartGrain(drawable, to.getTime() - from.getTime());
  return {
    drawable,
    columns,
    keyValues: Object.fromEntries(known.filter(isKey)),
    args: Object.fromEntries(known.filter((one) => !isKey(one)).map(([name, [value = '']]) => [name, value])),
    grain,
    isGrainExplicit: parameters.by !== undefined,
    window: grain === null ? [from, to] : extendToGrain(from, to, grain),
    moments: parameters.beside ? [parameters.as_of, parameters.beside] : [parameters.as_of],
  };
}

/**
 * Extends a window to whole hours, days, months or years, because incomplete periods have too small counts.
 */
function extendToGrain(from: Date, to: Date, grain: ChartGrain): readonly [Date, Date] {
  const end = endOfGrain(startOfGrain(to.getTime() - 1, grain), grain);
  return [new Date(startOfGrain(from.getTime(), grain)), end > LATEST ? to : new Date(end)];
}

/** Splits a text at commas and removes duplicates. */
export const textsOf = (text: string): string[] => [...new Set(text.split(',').map((one) => one.trim()))];
