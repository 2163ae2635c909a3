import { useContext } from 'preact/hooks';
import { grains, grainWords } from '../../../reporting/reports/nodes/windows.ts';
import { CurrentView } from '../view.ts';
import { CurrentLinks } from './links.ts';
import { type RequestedRange, usualNames, usualRanges } from './requested-range.ts';

/** The choice of the range: links to the usual ranges and to the years, and a form for any other. */
export function RangeChoice({
  asked,
  node,
  firstLook,
}: {
  readonly asked: RequestedRange;
  readonly node: string;
  readonly firstLook: Date | null;
}) {
  const links = useContext(CurrentLinks);
  const { file, now } = useContext(CurrentView);
  const text = (at: number) => new Date(at).toISOString().slice(0, 16);
  return (
    <nav aria-label="Range" class="stack">
      <ul class="ranges">
        {usualNames.map((name) => (
          <li key={name}>
            <a href={links.node(node, name)} aria-current={asked.usual === name ? 'page' : undefined}>
              {usualRanges[name].words}
            </a>
          </li>
        ))}
        {yearsSince(firstLook, now).flatMap((year) => {
          const href = links.range(node, { from: `${year}-01-01`, to: `${year + 1}-01-01`, grain: '1d' });
          return href === null
            ? []
            : [
                <li key={year}>
                  <a href={href}>{year}</a>
                </li>,
              ];
        })}
      </ul>
      {!file && (
        <form class="filters" method="get" action={links.node(node)}>
          <div>
            <label for="from">From (UTC)</label>
            <input id="from" name="from" type="datetime-local" value={text(asked.from)} />
          </div>
          <div>
            <label for="to">To (UTC)</label>
            <input id="to" name="to" type="datetime-local" value={text(asked.to)} />
          </div>
          <div>
            <label for="grain">Resolution</label>
            <select id="grain" name="grain">
              <option value="">what fits</option>
              {grains.map((grain) => (
                <option value={grain} selected={grain === asked.grain} key={grain}>
                  {grainWords[grain]}
                </option>
              ))}
            </select>
          </div>
          <button type="submit">Show</button>
        </form>
      )}
    </nav>
  );
}

/** Returns the calendar years with a record, the newest first. */
function yearsSince(firstLook: Date | null, now: number): number[] {
  if (!firstLook) return [];
  const last = new Date(now).getUTCFullYear();
  return Array.from({ length: last - firstLook.getUTCFullYear() + 1 }, (_, at) => last - at);
}
