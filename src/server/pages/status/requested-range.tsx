import { useContext } from 'preact/hooks';
import { z } from 'zod';
import { INSTANT_EXAMPLE, parseInstant } from '../../../lib/instant.ts';
import {
  InvalidRequestError,
  invalidParameter,
  type ParameterProblem,
} from '../../../reporting/relations/invalid-request.ts';
import {
  chooseWindowGrain,
  countOf,
  grains,
  grainWords,
  type Span,
  type WindowGrain,
} from '../../../reporting/reports/nodes/windows.ts';
import { FormField } from '../parts/fields.tsx';
import { LinkList } from '../parts/link-list.tsx';
import { CurrentView } from '../view.ts';
import { CurrentLinks } from './links.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Maximum number of windows of a range. The bars of more windows would be too narrow. */
const MAX_RANGE_WINDOWS = 400;
/** Approximate number of windows of a range without a given grain. */
const TARGET_WINDOWS = 120;

/** The usual ranges up to now, by name, with lengths in ms. `all` starts at the first probe. */
export const usualRanges = {
  '1h': { length: HOUR, grain: '1min', words: 'hour' },
  '24h': { length: DAY, grain: '15min', words: '24 hours' },
  '7d': { length: 7 * DAY, grain: '6h', words: '7 days' },
  '30d': { length: 30 * DAY, grain: '1d', words: '30 days' },
  '90d': { length: 90 * DAY, grain: '1d', words: '90 days' },
  '1y': { length: 365 * DAY, grain: '1d', words: 'year' },
  all: { length: null, grain: null, words: 'all' },
} as const;
export type UsualRange = keyof typeof usualRanges;
export const usualNames = Object.keys(usualRanges).filter((name): name is UsualRange => name in usualRanges);

const choice = <T extends string>(names: readonly T[]) =>
  z.enum(names, `must be one of ${names.filter((name) => name !== '').join(', ')}`);

/** The parameters of a range. Empty fields of a form count as missing. */
export const rangeParameters = {
  range: choice(usualNames).optional(),
  from: z.string().trim().optional(),
  to: z.string().trim().optional(),
  grain: choice([...grains, '']).optional(),
};

/** A parsed range. */
export interface RequestedRange extends Span {
  readonly grain: WindowGrain;
  /** Name of the range; null if it is not a usual range. */
  readonly usual: UsualRange | null;
}

/**
 * Parses the range in the parameters. Default: the last 90 days. The end of the range is at most now.
 * @param now ms since 1970
 * @param firstProbe start of the record, in ms since 1970; null if there is none
 * @throws InvalidRequestError if the range is invalid or has too many windows
 */
export function parseRange(
  params: z.output<z.ZodObject<typeof rangeParameters>>,
  now: number,
  firstProbe: number | null,
): RequestedRange {
  const own = Boolean(params.from) || Boolean(params.to);
  if (own && params.range) throw invalidParameter('range', 'cannot be combined with from and to');
  const usual = own ? null : (params.range ?? '90d');
  const span = usual === null ? ownRange(params, now) : usualRange(usual, now, firstProbe);
  const preset = usual === null ? null : usualRanges[usual].grain;
  const grain = params.grain || preset || chooseWindowGrain(span, TARGET_WINDOWS);
  const count = countOf(span, grain);
  if (count > MAX_RANGE_WINDOWS) {
    const coarser = chooseWindowGrain(span, MAX_RANGE_WINDOWS);
    throw countOf(span, coarser) > MAX_RANGE_WINDOWS
      ? invalidParameter('from', `is too early: a range has at most ${MAX_RANGE_WINDOWS} months`)
      : invalidParameter(
          'grain',
          `${grain} divides this range into ${count} parts, more than ${MAX_RANGE_WINDOWS}: use ${coarser} or coarser`,
        );
  }
  return { ...span, grain, usual };
}

function usualRange(name: UsualRange, now: number, firstProbe: number | null): Span {
  const { length, grain } = usualRanges[name];
  if (length === null) return { from: Math.min(firstProbe ?? now - DAY, now - HOUR), to: now };
  // Ranges of days start at midnight (UTC), so that each window is a whole day.
  const from = now - length;
  return { from: grain === '1d' ? Math.ceil(from / DAY) * DAY : from, to: now };
}

function ownRange({ from, to }: { from?: string | undefined; to?: string | undefined }, now: number): Span {
  const problems: ParameterProblem[] = [];
  const read = (parameter: string, text: string | undefined) => {
    const at = text ? parseInstant(text) : null;
    if (text && at === null)
      problems.push({ parameter, problem: `must be a time such as ${INSTANT_EXAMPLE}` });
    return at;
  };
  const end = Math.min(read('to', to) ?? now, now);
  const begin = read('from', from) ?? end - DAY;
  if (problems.length > 0) throw new InvalidRequestError(problems);
  if (begin >= now) throw invalidParameter('from', 'is in the future: nothing is recorded yet');
  if (begin >= end) throw invalidParameter('from', 'must be before to');
  return { from: begin, to: end };
}

/** The choice of the range: links to the usual ranges and to the years, and a form for other ranges. */
export function RangeChoice({
  params,
  node,
  firstProbeAt,
}: {
  readonly params: RequestedRange;
  readonly node: string;
  readonly firstProbeAt: Date | null;
}) {
  const links = useContext(CurrentLinks);
  const { file, now } = useContext(CurrentView);
  const text = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`;
  return (
    <nav aria-label="Range" class="stack">
      <LinkList
        class="ranges"
        links={[
          ...usualNames.map((name) => ({
            href: links.node(node, name),
            label: usualRanges[name].words,
            current: params.usual === name && ('page' as const),
          })),
          ...yearsSince(firstProbeAt, now).flatMap((year) => {
            const href = links.range(node, { from: `${year}-01-01`, to: `${year + 1}-01-01`, grain: '1d' });
            return href === null ? [] : [{ href, label: year }];
          }),
        ]}
      />
      {!file && (
        <form class="filters" method="get" action={links.node(node)}>
          <FormField name="from" label="From (UTC)" type="timestamptz" value={text(params.from)} />
          <FormField name="to" label="To (UTC)" type="timestamptz" value={text(params.to)} />
          <FormField
            name="grain"
            label="Resolution"
            value={params.grain}
            options={[['', 'automatic'], ...grains.map((grain) => [grain, grainWords[grain]] as const)]}
          />
          <button type="submit">Show</button>
        </form>
      )}
    </nav>
  );
}

/** Returns the calendar years with a record, the newest first. */
function yearsSince(firstProbe: Date | null, now: number): number[] {
  if (!firstProbe) return [];
  const last = new Date(now).getUTCFullYear();
  return Array.from({ length: last - firstProbe.getUTCFullYear() + 1 }, (_, at) => last - at);
}
