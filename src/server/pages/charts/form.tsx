import type { ChartSource } from '../../../reporting/relations/chart-sources.ts';
import { FormField } from '../parts/fields.tsx';
import type { ChartRequest } from './chart-data.ts';
import { byHeading } from './drawables.ts';
import type { ChartTarget } from './known-values.ts';

/**
 * The form that selects the source. Each source has different parameters, so the source is selected first.
 */
export function ChartChoice({ chosen }: { readonly chosen: ChartSource }) {
  return (
    <form class="filters" method="get" action="/charts">
      <div>
        <label for="of">Data source</label>
        <select id="of" name="of">
          {byHeading.map(([heading, drawables]) => (
            <optgroup label={heading}>
              {drawables.map(({ name, title }) => (
                <option value={name} selected={name === chosen.name}>
                  {title}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </div>
      <button type="submit">Choose</button>
    </form>
  );
}

interface ChartFormProps {
  /** Recorded targets of the source. */
  readonly targets: readonly ChartTarget[];
  readonly drawing: ChartRequest;
  readonly params: { readonly [name: string]: unknown };
}

export function ChartForm({ targets, drawing, params }: ChartFormProps) {
  const { drawable, grain, isGrainExplicit } = drawing;
  const { name: of, keys, needed, takes, grains, past } = drawable;
  const choices = [
    ...keys.map(({ name, comment }) => ({
      ...{ name, about: comment, required: needed.includes(name) },
      value: drawing.keyValues[name]?.join(',') ?? '',
      suggestions: [...new Set(targets.flatMap((target) => target[name] ?? []))],
    })),
    ...takes.map(({ name, comment }) => ({
      ...{ name, about: comment, required: false, value: drawing.args[name] ?? '', suggestions: [] },
    })),
  ];
  return (
    <form class="filters" method="get" action="/charts">
      <input type="hidden" name="of" value={of} />
      {choices.map(({ name, about, required, value, suggestions }) => (
        <>
          <FormField
            id={`of-${name}`}
            name={name}
            label={<span title={about}>{name}</span>}
            value={value}
            placeholder={required ? undefined : 'all'}
            list={suggestions.length > 0 ? `${name}-known` : undefined}
            required={required}
          />
          {suggestions.length > 0 && (
            <datalist id={`${name}-known`}>
              {suggestions.map((one) => (
                <option value={one} />
              ))}
            </datalist>
          )}
        </>
      ))}
      <Values drawing={drawing} />
      {grains.length > 1 && (
        <FormField
          name="by"
          label="By"
          value={isGrainExplicit && grain ? grain : ''}
          options={[['', `automatic${grain && !isGrainExplicit ? ` (${grain})` : ''}`], ...grains]}
        />
      )}
      {(past ? [...WINDOW, ...MOMENTS] : WINDOW).map(([name, label]) => {
        const at = params[name];
        return (
          <FormField
            name={name}
            label={label}
            type="timestamptz"
            value={at instanceof Date ? at.toISOString() : String(at ?? '')}
          />
        );
      })}
      <button type="submit">Draw</button>
    </form>
  );
}

/** The choice of the columns of values. Each column is drawn as separate lines. */
function Values({ drawing: { drawable, columns } }: { readonly drawing: ChartRequest }) {
  if (drawable.values.length < 2) return null;
  return (
    <details class="values">
      <summary>
        Values: <strong>{columns.join(', ')}</strong>
      </summary>
      <fieldset>
        <legend class="unseen">Values</legend>
        {drawable.values.map(({ name, comment }) => (
          <label title={comment}>
            <input type="checkbox" name="column" value={name} checked={columns.includes(name)} /> {name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

const WINDOW = [
  ['from', 'From (UTC)'],
  ['to', 'To'],
] as const;
const MOMENTS = [
  ['as_of', 'As of (empty: now)'],
  ['beside', 'Compare with the data as of'],
] as const;
