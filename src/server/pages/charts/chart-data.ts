import {
  beginOf,
  type Drawable,
  endOf,
  type Grain,
  grainFor,
  isTooFine,
} from '../../../reporting/relations/chart-sources.ts';
import { valuesOf } from '../../../reporting/relations/filters.ts';
import type { LinesQuestion } from '../../../reporting/relations/lines.ts';
import { BadRequest } from '../page.ts';

/** What is drawn: a window, the things, and the moments of knowledge. */
export interface Drawing extends Omit<LinesQuestion, 'asOf'> {
  readonly drawable: Drawable;
  /** The grain was told: else it follows from the window. */
  readonly grainTold: boolean;
  /** The moments of knowledge, as PostgreSQL reads them; null: now. */
  readonly moments: readonly (string | null)[];
}

/** What the address says, beside the drawable. */
export interface Said {
  readonly column: string | undefined;
  readonly by: Grain | undefined;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly as_of: string | null;
  readonly beside: string | null;
  /** By column or parameter, what is drawn. */
  readonly things: Readonly<Record<string, string>>;
}

const DAY = 86_400_000;
/** Readings and response times are often: a window of them is shorter unless told, ms. */
const SHORT = 7 * DAY;
const LONG = 90 * DAY;
/** Years have four digits. */
const LATEST = Date.UTC(9999, 11, 31);
/** The most values of one column. */
const MOST_VALUES = 50;

/** Reads what is drawn. @param now ms since 1970 @throws BadRequest with all that is wrong */
export function drawingOf(drawable: Drawable, said: Said, now: number): Drawing {
  const { dataset, keys, takes, grains, counted, past } = drawable;
  const problems: string[] = [];
  const to = said.to ?? new Date(now);
  const often = dataset?.kind === 'sample' || (!counted && grains.includes('hour'));
  const from = said.from ?? new Date(Math.max(to.getTime() - (often ? SHORT : LONG), 0));
  if (from >= to) problems.push('from: must be before the end of the window');
  if (!past && (said.as_of || said.beside))
    problems.push(`as_of, beside: what reporting.${drawable.name} said at a past moment is not kept`);
  const columns = said.column === undefined ? drawable.usual : textsOf(said.column);
  const names = drawable.values.map(({ name }) => name);
  if (columns.some((one) => !names.includes(one))) problems.push(`column: must be of ${names.join(', ')}`);
  if (said.by !== undefined && !grains.includes(said.by))
    problems.push(grains.length > 0 ? `by: must be one of ${grains.join(', ')}` : 'by: has no meaning here');
  else if (said.by !== undefined && isTooFine(said.by, to.getTime() - from.getTime()))
    problems.push(`by: a window of this width has too many of one ${said.by} each`);
  const types = new Map([...keys, ...takes].map(({ name, type }) => [name, type]));
  const known = Object.entries(said.things).flatMap(([name, text]): [string, string[]][] => {
    const type = types.get(name);
    if (type === undefined)
      problems.push(`${name}: there are ${[...types.keys()].join(', ') || 'no others'}`);
    const values = keys.some((key) => key.name === name) ? textsOf(text) : [text];
    if (values.length > MOST_VALUES) problems.push(`${name}: has more than ${MOST_VALUES} values`);
    const wrong = values.map((one) => valuesOf(type ?? 'text').safeParse(one)).find((one) => !one.success);
    if (wrong?.error) problems.push(`${name}: ${wrong.error.issues[0]?.message}`);
    return [[name, values]];
  });
  if (problems.length > 0) throw new BadRequest(problems);
  const isKey = ([name]: readonly [string, unknown]) => keys.some((key) => key.name === name);
  const grain = said.by ?? grainFor(drawable, to.getTime() - from.getTime());
  return {
    drawable,
    columns,
    told: Object.fromEntries(known.filter(isKey)),
    given: Object.fromEntries(
      known.filter((one) => !isKey(one)).map(([name, [value = '']]) => [name, value]),
    ),
    grain,
    grainTold: said.by !== undefined,
    window: grain === null ? [from, to] : whole(from, to, grain),
    moments: said.beside ? [said.as_of, said.beside] : [said.as_of],
  };
}

/** A window of whole hours, days, months or years: a part of one would look like less. */
function whole(from: Date, to: Date, grain: Grain): readonly [Date, Date] {
  const end = endOf(beginOf(to.getTime() - 1, grain), grain);
  return [new Date(beginOf(from.getTime(), grain)), end > LATEST ? to : new Date(end)];
}

/** The parts of a text with commas between them. */
/** Values with commas between them, each once. */
export const textsOf = (text: string): string[] => [...new Set(text.split(',').map((one) => one.trim()))];
