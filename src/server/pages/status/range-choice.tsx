import { useContext } from 'preact/hooks';
import { grains, grainWords } from '../../../reporting/reports/nodes/windows.ts';
import { FormField } from '../parts/fields.tsx';
import { LinkList } from '../parts/link-list.tsx';
import { CurrentView } from '../view.ts';
import { CurrentLinks } from './links.ts';
import { type RequestedRange, usualNames, usualRanges } from './requested-range.ts';

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
