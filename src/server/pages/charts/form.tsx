import { momentText } from '../texts.ts';
import { type Chartable, chartables } from './chartable.ts';
import type { Drawing } from './read-lines.ts';

interface ChartFormProps {
  readonly chartable: Chartable;
  /** What is recorded of the dataset, as `key=value key=value`. */
  readonly targets: readonly string[];
  readonly drawing: Drawing;
  readonly told: { readonly [name: string]: unknown };
}

/** What is drawn, to be changed. Another dataset needs its own values, so it is chosen by links. */
export function ChartForm({ chartable: { dataset, source }, targets, drawing, told }: ChartFormProps) {
  const known = valuesIn(targets);
  return (
    <>
      <nav aria-label="What can be drawn">
        <ul class="choices">
          {[...chartables.keys()].map((name) => (
            <li key={name}>
              <a href={`/charts?of=${name}`} aria-current={name === dataset.name ? 'true' : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <form class="filters" method="get" action="/charts">
        <input type="hidden" name="of" value={dataset.name} />
        {source.needed.map((name) => (
          <div key={name}>
            <label for={name}>{name}</label>
            <input id={name} name={name} value={drawing.things[name] ?? ''} list={`${name}-known`} required />
            <datalist id={`${name}-known`}>
              {(known.get(name) ?? []).map((value) => (
                <option value={value} key={value} />
              ))}
            </datalist>
          </div>
        ))}
        {source.values.length > 1 && (
          <div>
            <label for="column">Value</label>
            <select id="column" name="column">
              {source.values.map(({ name }) => (
                <option value={name} selected={name === drawing.column} key={name}>
                  {name}
                </option>
              ))}
            </select>
          </div>
        )}
        {MOMENTS.map(([name, label]) => {
          const at = told[name];
          return (
            <div key={name}>
              <label for={name}>{label}</label>
              <input
                id={name}
                name={name}
                value={at instanceof Date ? momentText(at) : ''}
                placeholder="2026-12-01 12:00"
              />
            </div>
          );
        })}
        <button type="submit">Draw</button>
      </form>
    </>
  );
}

const MOMENTS = [
  ['from', 'From (UTC)'],
  ['to', 'To'],
  ['as_of', 'As known at (empty: now)'],
  ['beside', 'And as known at'],
] as const;

/** The values of targets by column. */
function valuesIn(targets: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, Set<string>>();
  for (const target of targets)
    for (const part of target.split(' ')) {
      const at = part.indexOf('=');
      if (at < 1) continue;
      const name = part.slice(0, at).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
      all.set(name, (all.get(name) ?? new Set()).add(part.slice(at + 1)));
    }
  return new Map([...all].map(([name, values]) => [name, [...values]]));
}
